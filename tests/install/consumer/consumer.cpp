#include <loft/version.h>

#include <iostream>

int main() { std::cout << loft_version() << '\n'; }
