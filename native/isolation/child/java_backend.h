// The JVM in a child, for backends in Java.
#ifndef NEREID_ISOLATION_CHILD_JAVA_BACKEND_H_
#define NEREID_ISOLATION_CHILD_JAVA_BACKEND_H_

#include "base/status.h"
#include "isolation/child/child_server.h"
#include "nereid/nereid.h"

namespace nereid {

// Starts a JVM, one in a process, and has Nereid's class for children make the table of a backend
// that knows all backends in Java; the parameters of a model say which one is its. Any thread may
// call it. The JVM stays until the process ends.
//
//   isolation.jvm           libjvm.so
//   isolation.jvm_options   its options, each with an end of line behind it
//   isolation.core          libnereid.so
Status JavaBackend(const nrd_model_options& options, ChildBackend* backend_out);

}  // namespace nereid

#endif  // NEREID_ISOLATION_CHILD_JAVA_BACKEND_H_
