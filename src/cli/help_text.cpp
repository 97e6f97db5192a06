#include "cli/options.hpp"

namespace gpuaes {

std::string help_text() {
  return "usage: gpuaes-stream [-e] (-k FILE | -p | -r RECIPIENT)... [OPTION]... [FILE] >OUT\n"
         "       gpuaes-stream [-e] (-k FILE | -p | -r RECIPIENT)... [OPTION]... -- COMMAND... >OUT\n"
         "       gpuaes-stream -d (-k FILE | -p) [OPTION]... [FILE] >OUT\n"
         "       gpuaes-stream --range OFFSET:[LENGTH] (-k FILE | -p) [OPTION]... FILE >OUT\n"
         "       gpuaes-stream --salvage (-k FILE | -p) [OPTION]... FILE >OUT\n"
         "       gpuaes-stream -t (-k FILE | -p) [OPTION]... [FILE]...\n"
         "       gpuaes-stream --rekey (-k FILE | -p) (--new-key FILE | -r RECIPIENT)... FILE\n"
         "       gpuaes-stream --info [OPTION]... [FILE]...\n\n"
         "Encrypt or decrypt a stream on CPUs and NVIDIA GPUs.\n\n" +
         options_help() +
         "\nExamples:\n"
         "  Make a key, encrypt an archive and unpack it again:\n"
         "    gpuaes-keygen -o key\n"
         "    tar -c photos | gpuaes-stream -k key >photos.sealed\n"
         "    gpuaes-stream -d -k key <photos.sealed | tar -x\n\n"
         "  Encrypt an archive only if tar succeeds:\n"
         "    gpuaes-stream -k key -o photos.sealed -- tar -c photos\n\n"
         "  Encrypt a file with a passphrase:\n"
         "    gpuaes-stream -p -i disk.img -o disk.sealed\n\n"
         "  Encrypt for a recipient; only its identity can decrypt:\n"
         "    gpuaes-keygen --x25519 -o identity >recipient\n"
         "    tar -c photos | gpuaes-stream -r @recipient >photos.sealed\n"
         "    gpuaes-stream -d -k identity <photos.sealed | tar -x\n\n"
         "See gpuaes-stream(1) for details.\n";
}

}  // namespace gpuaes
