# NEREID_SANITIZE: what -fsanitize= gets, for every target of the build, because a sanitizer only
# sees code that was compiled for it.
include_guard(DIRECTORY) # a project within another has the options already
set(NEREID_SANITIZE "" CACHE STRING "Sanitizers: empty, 'address,undefined' or 'thread'")

if(NEREID_SANITIZE)
  add_compile_options(
    -fsanitize=${NEREID_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${NEREID_SANITIZE})
endif()
