import { readFileSync } from 'node:fs'

/** The flags by which `serve` makes calls cheaper or delays them less; V8 reads them only when a process starts. */
export const serveFlags = [
  // The young generation grows to 8 MB at most, and collecting it takes less time.
  '--max-semi-space-size=4',
  // The main thread collects the young generation alone: that takes 0.2 ms, less than waking another thread on a shared
  // core.
  '--no-parallel-scavenge',
  // Otherwise, V8 learns to allocate some objects of calls as old ones. Whatever these refer to then survives until the
  // next full collection, which delays calls by 10 ms and more.
  '--no-allocation-site-pretenuring',
  // One thread instead of four marks objects and compiles beside the calls: four threads left the calls only a fifth of a
  // shared core for tens of milliseconds.
  '--v8-pool-size=1',
  // The young generation is also collected while V8 marks objects for a full collection. Otherwise it would meanwhile grow
  // past its limit, by tens of megabytes when V8's thread gets little of a busy core, and most of that would stay.
  '--no-separate-gc-phases',
  // When a node becomes idle, V8 collects garbage but keeps the shapes of which there is no object at that moment.
  // Otherwise it would discard all code compiled for these shapes, which is the code of calls, and the next calls would
  // wait for milliseconds until it is compiled again.
  '--no-memory-reducer-favors-memory',
  // A call runs through many small functions, and V8 inlines more of them (decision 021).
  '--max-inlined-bytecode-size=1000',
  '--max-inlined-bytecode-size-cumulative=4000',
  '--max-inlined-bytecode-size-small=60',
  '--min-inlining-frequency=0.05',
]

const usualHugePageBytes = 2 * 1024 ** 2

/**
 * The settings of glibc's heaps with which `serve` runs, and any command that an older Node hands over to a newer one, as
 * environment variables; glibc reads them only when a process starts.
 */
export const heapSettings = {
  // These two save 24 MB. By default, glibc gives each thread its own heap and keeps freed memory that lies between blocks
  // still in use, such as that of V8's compilers. With these, all threads share two heaps, and blocks of 32 KiB or more are
  // allocated outside them and return to the system when they are freed.
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '32768',
  // glibc 2.35 and later ask Linux for huge pages (2 MiB instead of 4 KiB) where Linux leaves that choice to programs
  // (`madvise`). On a virtual machine, where a TLB miss walks two levels of page tables, a call then takes 8 % less CPU. A
  // node takes about 10 MB more. On arm64 with base pages of 64 KiB, a huge page has 512 MiB, which is far too large.
  ...(hugePageBytes() === usualHugePageBytes ? { GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1' } : {}),
}

function hugePageBytes() {
  try {
    return Number(readFileSync('/sys/kernel/mm/transparent_hugepage/hpage_pmd_size', 'utf8'))
  } catch {
    return undefined
  }
}
