/* What the tests know of the library `divisions`. */
#ifndef NEREID_TEST_DIVISIONS_H_
#define NEREID_TEST_DIVISIONS_H_

#include <stdint.h>

struct DivisionState {
  uint64_t rax;
  uint64_t rdx;
  int32_t marker; /* 7 once the division is behind */
};

/* Divides by zero with the form of this number; returns the operand's size, 0: there is no such
 * form. */
typedef int (*DivideFn)(int form, struct DivisionState* state);

#endif /* NEREID_TEST_DIVISIONS_H_ */
