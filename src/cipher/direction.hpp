// Which way a block cipher goes.
#pragma once

namespace gpuaes {

enum class Direction { encrypt, decrypt };

}  // namespace gpuaes
