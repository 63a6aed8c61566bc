# Fails when a folder of the core includes what it must not know, and says which rule that breaks.
# Run with cmake -DNATIVE=<native/> -P; the build and its options do not matter to it.
cmake_minimum_required(VERSION 3.21)

# What each folder may include, as a regular expression, and why.
set(base_includes "nereid/nereid\\.h|base/.*")
set(base_rule
  "base/ is what every folder stands on, so it includes nothing but itself and the C header.")
set(memory_includes "nereid/nereid\\.h|(base|memory)/.*")
set(memory_rule
  "memory/ hands out bytes and knows no request and no model: it includes base/ and itself.")
set(core_includes "nereid/nereid\\.h|(base|memory|core)/.*")
set(core_rule
  "core/ knows a backend as nrd_backend of the C header only; core/capi.cc alone names onnxruntime/.")
set(onnxruntime_includes "nereid/nereid\\.h|(base|onnxruntime)/.*|core/model_config\\.h")
set(onnxruntime_rule
  "onnxruntime/ is a backend as any other: of core/ it may know how a model is configured, no more.")
set(triton_includes "(nereid|triton)/.*\\.h|base/.*")
set(triton_rule
  "triton/ is a library of its own, which knows the core by the C header alone: of the rest it includes base/.")
# Where the built-in backends are registered.
set(registration core/capi.cc)
set(registration_includes "onnxruntime/onnxruntime_backend\\.h")

set(checked 0)
foreach(folder IN ITEMS base memory core onnxruntime triton triton/triton/core)
  string(REGEX REPLACE "/.*" "" part ${folder})
  file(GLOB sources RELATIVE ${NATIVE} ${NATIVE}/${folder}/*.h ${NATIVE}/${folder}/*.cc)
  foreach(source IN LISTS sources)
    file(STRINGS ${NATIVE}/${source} lines REGEX "^[ \t]*#[ \t]*include[ \t]*\"")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE ".*include[ \t]*\"([^\"]*)\".*" "\\1" included "${line}")
      math(EXPR checked "${checked} + 1")
      if(included MATCHES "^(${${part}_includes})$" OR
          (source STREQUAL registration AND included MATCHES "^(${registration_includes})$"))
        continue()
      endif()
      message(SEND_ERROR "native/${source} includes \"${included}\". ${${part}_rule}")
    endforeach()
  endforeach()
endforeach()

if(checked EQUAL 0)
  message(FATAL_ERROR "there are no sources in ${NATIVE}")
endif()
