#ifndef NEREID_REHEARSAL_FAULTS_H_
#define NEREID_REHEARSAL_FAULTS_H_

#include <cstdint>
#include <string>

// Faults and delays on demand. Every call of a stand-in that can fail passes Check once, at its
// beginning, under the name that it is exported by; what works late passes it once more when it
// runs, under that name with "~late" behind it. All of this may be called from any thread.
//
// REHEARSAL_FAULTS="cudaMalloc:3:2,cudaEventRecord:*:700" makes the third cudaMalloc answer 2 and
// each cudaEventRecord 700. REHEARSAL_DELAY_US and REHEARSAL_SEED delay completions at random.
namespace rehearsal::faults {

// Counts the call. 0: it shall go on; else the code with which it must fail without having done
// anything, unless it gives something back: that it does, and fails then; or it waits: the device
// is broken then. Calls that answer no code fail in their own way (null, false) whatever the number
// is.
int Check(const char* call);

// The call that comes as the nth from now on under this name (from 1; 0: each of them) fails.
void Inject(const std::string& call, std::int64_t nth, int code);

// Takes back what was injected, also by the environment, and the delays.
void Clear();

// Before it completes, each piece of work waits for a random time of up to so many microseconds.
void Delay(std::uint64_t seed, std::uint32_t most_us);

// How often a call was made; and all of them, a line each: name, a space, how often.
std::int64_t Count(const std::string& call);
std::string Calls();

// Waits for the next random time; for the workers of streams.
void WaitAtRandom();

}  // namespace rehearsal::faults

#endif  // NEREID_REHEARSAL_FAULTS_H_
