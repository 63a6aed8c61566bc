# nereid_precompile(<target>...): the compiler reads the headers of the standard library that most files use once for a
# target and not once for each of its files, which took a third of the time of a build. A file still includes all that
# it uses: './dev lint' and the release compile the core without this.
include_guard(GLOBAL)
set(standard_headers algorithm array atomic cstring functional map memory mutex span string string_view thread utility
  vector)
list(TRANSFORM standard_headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")

function(nereid_precompile)
  foreach(target IN LISTS ARGN)
    # Reading them so that they can be kept takes as long as reading them for some files.
    get_target_property(sources ${target} SOURCES)
    list(LENGTH sources count)
    if(count LESS 10)
      continue()
    endif()
    target_precompile_headers(${target} PRIVATE ${standard_headers})
    # Without the first option ccache does not see what is in them. GCC 12 warns wrongly of the bounds of strings that
    # are precompiled; the release build looks at the core's without this.
    target_compile_options(${target} PRIVATE
      $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess;-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread>)
  endforeach()
endfunction()
