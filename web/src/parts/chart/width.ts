import { useLayoutEffect, useRef, useState, type RefObject } from 'react'

/** Measures an element, so that its content is drawn at the right width; scaling a drawing would distort its text. */
export function useWidth(): readonly [RefObject<HTMLDivElement | null>, number] {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const node = box.current
    if (node === null) return undefined
    const observer = new ResizeObserver(([entry]) =>
      setWidth(Math.floor(entry?.contentRect.width ?? 0)),
    )
    observer.observe(node)
    return () => observer.disconnect()
  }, [])
  return [box, width]
}
