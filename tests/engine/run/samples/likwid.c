/* A program with LIKWID's markers, as LIKWID's own macros write them. */
int likwid_markerStartRegion(const char* name);
int likwid_markerStopRegion(const char* name);
void likwid_markerstartregion_(const char* name, int length);
void likwid_markerstopregion_(const char* name, int length);
void likwid_markerGetRegion(const char* name, int* events, double* counts, double* time,
                            int* count);

static double g_sum = 1;

int main(void) {
  int i, events = 7, count = 7;
  double time = 7;
  for (i = 0; i < 2; ++i) {
    likwid_markerStartRegion("sum");
    likwid_markerstartregion_("inner   ", 8);
    g_sum += 0.5;
    likwid_markerstopregion_("inner   ", 8);
    likwid_markerStopRegion("sum");
  }
  likwid_markerGetRegion("sum", &events, &time, &time, &count);
  return events + count + (int)time;
}
