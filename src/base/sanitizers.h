// Which sanitizers this was compiled with: GCC says it by macros of its own, clang by features.
#pragma once

#if defined(__has_feature)
#define COLLTOPO_HAS_FEATURE(feature) __has_feature(feature)
#else
#define COLLTOPO_HAS_FEATURE(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || COLLTOPO_HAS_FEATURE(address_sanitizer)
#define COLLTOPO_SANITIZES_ADDRESS
#endif
#if defined(__SANITIZE_THREAD__) || COLLTOPO_HAS_FEATURE(thread_sanitizer)
#define COLLTOPO_SANITIZES_THREADS
#endif
