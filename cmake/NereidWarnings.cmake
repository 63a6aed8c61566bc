# nereid_warnings(<target>...): the project's warnings, which are errors unless NEREID_WERROR is off
# (for a compiler newer than those it is tested with).
option(NEREID_WERROR "Treat compiler warnings as errors" ON)

function(nereid_warnings)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE
      -Wall -Wextra -Wpedantic -Wshadow -Wconversion
      $<$<BOOL:${NEREID_WERROR}>:-Werror>)
  endforeach()
endfunction()
