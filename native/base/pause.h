// A pause of the processor, for threads that look again and again for what another one does.
#ifndef NEREID_BASE_PAUSE_H_
#define NEREID_BASE_PAUSE_H_

namespace nereid {

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");  // some cycles; the instruction "yield" takes none
#endif
}

}  // namespace nereid

#endif  // NEREID_BASE_PAUSE_H_
