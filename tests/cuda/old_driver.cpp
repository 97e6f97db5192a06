// The part of a CUDA driver that the CUDA runtime needs to find out that it is too old.

extern "C" {

int cuDriverGetVersion(int* version) {
  *version = 11040;
  return 0;
}

int cuInit(unsigned) {
  return 0;
}

}  // extern "C"
