import { useCallback, useState, type RefCallback } from 'react'

/**
 * Whether an element has come into view; its data is requested only then. `place` is the ref of that element, which may
 * be rendered later than the component or be replaced by another one.
 */
export function useSeen<Place extends Element>(): [place: RefCallback<Place>, isSeen: boolean] {
  const [isSeen, setSeen] = useState(false)
  const place = useCallback((node: Place | null) => {
    if (node === null) return undefined
    const watch = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return
      setSeen(true)
      watch.disconnect()
    })
    watch.observe(node)
    return () => watch.disconnect()
  }, [])
  return [place, isSeen]
}
