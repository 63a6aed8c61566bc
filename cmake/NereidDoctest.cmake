# nereid_doctest(<target>...): programs of tests. They get doctest, the project's warnings and no
# optimizer: it is the core that runs for long, and the optimizer took half of the time to compile.
include_guard(GLOBAL)
find_path(DOCTEST_INCLUDE_DIR doctest/doctest.h)
if(NOT DOCTEST_INCLUDE_DIR)
  message(FATAL_ERROR "the native tests need doctest: run './dev setup' (Debian, Ubuntu: doctest-dev)")
endif()

include(NereidPrecompiled)

function(nereid_doctest)
  foreach(target IN LISTS ARGN)
    target_include_directories(${target} SYSTEM PRIVATE ${DOCTEST_INCLUDE_DIR})
    nereid_warnings(${target})
    nereid_precompile(${target})
    # The tests name only the fields that matter to them.
    target_compile_options(${target} PRIVATE -Wno-missing-field-initializers -O0)
    # Each check is a call then, and not a block of code of its own: a fifth of the time to compile.
    target_compile_definitions(${target} PRIVATE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
  endforeach()
endfunction()
