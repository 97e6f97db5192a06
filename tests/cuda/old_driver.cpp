// A stand-in for libcuda that reports CUDA 11.4, which the CUDA runtime rejects as too old.

extern "C" {

int cuDriverGetVersion(int* version) {
  *version = 11040;
  return 0;
}

int cuInit(unsigned) {
  return 0;
}

}  // extern "C"
