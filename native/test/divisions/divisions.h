/* Declarations of the test library `divisions`. */
#ifndef NEREID_TEST_DIVISIONS_H_
#define NEREID_TEST_DIVISIONS_H_

#include <stdint.h>

struct DivisionState {
  uint64_t rax;
  uint64_t rdx;
  int32_t marker; /* 7 once the division is behind */
};

/* Divides by zero with instruction form `form`; returns the operand's size, or 0 if there is no
 * such form. */
typedef int (*DivideFn)(int form, struct DivisionState* state);

#endif /* NEREID_TEST_DIVISIONS_H_ */
