/* A library that divides by what it is given, with each form that the instruction can have. */
#include "divisions.h"

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)

static const int64_t zero_beside_the_code = 0;

/* The marker says that the code behind the instruction was reached, from its first byte on. */
#define DIVIDE(instruction)                                                       \
  __asm__ volatile(instruction "\n\tmovl $7, %[marker]"                           \
                   : "+a"(rax), "+d"(rdx), [marker] "=m"(state->marker)           \
                   : "c"(divisors[0]), "S"(divisors),                             \
                     "D"(index), [r12] "r"(r12), [zero] "m"(zero_beside_the_code) \
                   : "cc");                                                       \
  break

__attribute__((visibility("default"))) int Divide(int form, struct DivisionState* state) {
  static const int64_t divisors[128] = {0};
  const uint64_t index = 2;
  uint64_t rax = state->rax;
  uint64_t rdx = state->rdx;
  register const int64_t* r12 __asm__("r12") = divisors;
  int size = 0;
  switch (form) {
    case 0:
      size = 1;
      DIVIDE("divb %%cl");
    case 1:
      size = 1;
      DIVIDE("idivb 5(%%rsi)");
    case 2:
      size = 2;
      DIVIDE("divw %%cx");
    case 3:
      size = 2;
      DIVIDE("idivw (%%rsi,%%rdi,8)");
    case 4:
      size = 4;
      DIVIDE("divl %%ecx");
    case 5:
      size = 4;
      DIVIDE("idivl (%%rsi)");
    case 6:
      size = 4;
      DIVIDE("idivl 8(%%rsi)");
    case 7:
      size = 4;
      DIVIDE("idivl 0x200(%%rsi,%%rdi,4)");
    case 8:
      size = 4;
      DIVIDE("divl (,%%rsi,1)");
    case 9:
      size = 4;
      DIVIDE("idivl %[zero]");
    case 10:
      size = 8;
      DIVIDE("idivq %%rcx");
    case 11:
      size = 8;
      DIVIDE("divq 0x200(%%rsi)");
    case 12:
      size = 8;
      DIVIDE("idivq (%[r12])");
    case 13:
      size = 8;
      DIVIDE("idivq 8(%[r12])");
    case 14:
      size = 8;
      DIVIDE("divq %%ds:(%%rsi)");
    default:
      break;
  }
  state->rax = rax;
  state->rdx = rdx;
  return size;
}

#else

__attribute__((visibility("default"))) int Divide(int form, struct DivisionState* state) {
  (void)form;
  (void)state;
  return 0;
}

#endif
