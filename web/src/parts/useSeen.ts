import { useEffect, useRef, useState, type RefObject } from 'react'

/** Whether an element has come into view; its data is requested only then. */
export function useSeen<Place extends Element>(): [
  place: RefObject<Place | null>,
  isSeen: boolean,
] {
  const place = useRef<Place>(null)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    const node = place.current
    if (isSeen || node === null) return undefined
    const watch = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) setSeen(true)
    })
    watch.observe(node)
    return () => watch.disconnect()
  }, [isSeen])
  return [place, isSeen]
}
