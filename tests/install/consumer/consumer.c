#include <loft/version.h>
#include <stdio.h>

int main(void) { return puts(loft_version()) < 0; }
