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
# The folders of core/ are floors, the lowest first: each includes itself and those before it.
set(core_floors config request cache queue sequence objective batch schedule model ensemble api)
set(core_rule
  "The floors of core/ are ${core_floors}: each includes base/, memory/, itself and those before it, and the core knows a backend as nrd_backend of the C header only; core/api/capi.cc alone names identity/ and onnxruntime/, and core/api/capi_isolation.cc isolation/.")
set(onnxruntime_includes "nereid/nereid\\.h|(base|onnxruntime)/.*|core/config/model_config\\.h|core/model/model_options\\.h")
set(onnxruntime_rule
  "onnxruntime/ is a backend as any other: of core/ it may know how a model is configured, no more.")
set(identity_includes "nereid/nereid\\.h|(base|identity)/.*")
set(identity_rule
  "identity/ is a backend as any other, and needs to know of no model: it includes base/ and itself.")
set(isolation_includes "nereid/nereid\\.h|(base|isolation)/.*|identity/identity_backend\\.h|onnxruntime/onnxruntime_backend\\.h|triton/nereid_triton\\.h")
set(isolation_rule
  "isolation/ is a backend as any other, and its child knows of the backends that it runs no more than their tables.")
set(triton_includes "(nereid|triton)/.*\\.h|base/.*")
set(triton_rule
  "triton/ is a library of its own, which knows the core by the C header alone: of the rest it includes base/.")
# Where the built-in backends are registered.
set(registration core/api/capi.cc core/api/capi_isolation.cc)
set(registration_includes "identity/identity_backend\\.h|onnxruntime/onnxruntime_backend\\.h|isolation/(isolated_backend|isolation_options)\\.h")

set(checked 0)
set(folders base memory identity onnxruntime isolation isolation/child triton triton/triton/core)
file(GLOB core_folders RELATIVE ${NATIVE} ${NATIVE}/core/*)
foreach(folder IN LISTS folders core_folders)
  string(REGEX REPLACE "/.*" "" part ${folder})
  set(allowed ${${part}_includes})
  if(part STREQUAL core)
    get_filename_component(floor ${folder} NAME)
    list(FIND core_floors "${floor}" place)
    if(place EQUAL -1)
      message(SEND_ERROR "native/${folder} is no floor. ${core_rule}")
      continue()
    endif()
    math(EXPR count "${place} + 1")
    list(SUBLIST core_floors 0 ${count} below)
    list(JOIN below "|" below)
    set(allowed "nereid/nereid\\.h|(base|memory)/.*|core/(${below})/.*")
  endif()
  file(GLOB sources RELATIVE ${NATIVE} ${NATIVE}/${folder}/*.h ${NATIVE}/${folder}/*.cc)
  foreach(source IN LISTS sources)
    file(STRINGS ${NATIVE}/${source} lines REGEX "^[ \t]*#[ \t]*include[ \t]*\"")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE ".*include[ \t]*\"([^\"]*)\".*" "\\1" included "${line}")
      math(EXPR checked "${checked} + 1")
      if(included MATCHES "^(${allowed})$" OR
          (source IN_LIST registration AND included MATCHES "^(${registration_includes})$"))
        continue()
      endif()
      message(SEND_ERROR "native/${source} includes \"${included}\". ${${part}_rule}")
    endforeach()
  endforeach()
endforeach()

if(checked EQUAL 0)
  message(FATAL_ERROR "there are no sources in ${NATIVE}")
endif()
