// Macros for clang's thread-safety analysis: they tell which mutex guards a field, and which one a
// function wants held. './dev lint' compiles every source with that analysis where there is a
// clang; other compilers see nothing of it.
//
// A field that no macro names is guarded by something that the analysis cannot follow (a mutex of
// another object, a hand-over between threads), and a comment says by what.
#ifndef NEREID_BASE_THREAD_ANNOTATIONS_H_
#define NEREID_BASE_THREAD_ANNOTATIONS_H_

#if defined(__clang__)
#define NRD_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define NRD_THREAD_ATTRIBUTE(attribute)
#endif

// On a class: its objects can be held.
#define NRD_CAPABILITY(name) NRD_THREAD_ATTRIBUTE(capability(name))
// On a class: its objects hold something from their constructor to their destructor.
#define NRD_SCOPED_CAPABILITY NRD_THREAD_ATTRIBUTE(scoped_lockable)

// On a field: it is read and written with `mutex` held.
#define NRD_GUARDED_BY(mutex) NRD_THREAD_ATTRIBUTE(guarded_by(mutex))
// On a pointer: its target is guarded by `mutex`.
#define NRD_PT_GUARDED_BY(mutex) NRD_THREAD_ATTRIBUTE(pt_guarded_by(mutex))

// On a function: its caller holds the mutex, or must not hold it.
#define NRD_REQUIRES(...) NRD_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define NRD_EXCLUDES(...) NRD_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))

// On a function: it takes the mutex or gives it back; without arguments its own object.
#define NRD_ACQUIRE(...) NRD_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define NRD_RELEASE(...) NRD_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define NRD_TRY_ACQUIRE(...) NRD_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))

// On a function that does nothing: from its call on the analysis takes the object for held.
#define NRD_ASSERT_HELD(...) NRD_THREAD_ATTRIBUTE(assert_capability(__VA_ARGS__))

// On a function that the analysis cannot follow; a comment gives the reason why it is correct.
#define NRD_NOT_ANALYSED NRD_THREAD_ATTRIBUTE(no_thread_safety_analysis)

#endif  // NEREID_BASE_THREAD_ANNOTATIONS_H_
