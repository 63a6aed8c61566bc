# Builds for Linux on aarch64 by Debian's cross compiler; QEMU runs what is built.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

# What programs see in place of the host's files of these names. ONNX Runtime looks which processor it
# is on when it is loaded, and older QEMUs show it the host's.
set(root ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64/root)
set(processor "Features\t: fp asimd aes pmull sha1 sha2 crc32 atomics fphp asimdhp asimdrdm asimddp
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x3
CPU part\t: 0xd0c
CPU revision\t: 1
")
set(processors "")
cmake_host_system_information(RESULT count QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR last "${count} - 1")
foreach(number RANGE ${last})
  string(APPEND processors "processor\t: ${number}\n${processor}\n")
endforeach()
file(WRITE ${root}/proc/cpuinfo "${processors}")
file(CREATE_LINK /usr/aarch64-linux-gnu/lib ${root}/lib SYMBOLIC)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -cpu neoverse-n1 -L ${root})
