// A profiler as NVTX sees it, for tests: a library that the program loads if NVTX_INJECTION64_PATH names it.
// Appends a line for each range that begins ("THREAD push NAME") or ends ("THREAD pop") to the file named by
// NVTX_RECORD.
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

int record = -1;

int NVTX_API push(const char* name) {
  const std::string line = std::to_string(gettid()) + " push " + name + "\n";
  return write(record, line.data(), line.size()) < 0 ? -1 : 0;
}

int NVTX_API pop() {
  const std::string line = std::to_string(gettid()) + " pop\n";
  return write(record, line.data(), line.size()) < 0 ? -1 : 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  const char* const name = std::getenv("NVTX_RECORD");
  if (callbacks == nullptr || name == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) != 1 ||
      size <= NVTX_CBID_CORE_RangePop)
    return 0;
  record = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return record >= 0;
}
