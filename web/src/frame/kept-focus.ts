import { useEffect, type RefObject } from 'react'

/** Whoever gives the focus back after a dialog does it within this time. */
const patienceMs = 120

/**
 * Where the focused thing goes away (a row opened another page, a button did its work for good), the focus would fall
 * back to the start of the document. It goes to the nearest surroundings that are still there instead; they are no
 * control, so a key that is still held down does nothing.
 */
export function useKeptFocus(main: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    // From the focused element outwards: the last one anywhere, and the last one of the page itself.
    let anywhere: readonly Element[] = []
    let ofPage: readonly Element[] = []
    let timer = 0
    const remember = ({ target }: FocusEvent): void => {
      if (!(target instanceof Element) || target === document.body) return
      anywhere = ancestors(target)
      if (main.current?.contains(target) === true) ofPage = anywhere
    }
    const restore = (): void => {
      timer = 0
      const lost = anywhere[0]
      if (document.activeElement !== document.body || lost === undefined || lost.isConnected) return
      const around = [...inside(anywhere), ...inside(ofPage)].find((one) => one.isConnected)
      const place = around ?? main.current
      if (!(place instanceof HTMLElement)) return
      if (!place.hasAttribute('tabindex')) place.tabIndex = -1
      place.focus({ preventScroll: true })
    }
    const changes = new MutationObserver(() => {
      if (
        timer === 0 &&
        document.activeElement === document.body &&
        anywhere[0]?.isConnected === false
      )
        timer = window.setTimeout(restore, patienceMs)
    })
    document.addEventListener('focusin', remember)
    changes.observe(document.body, { childList: true, subtree: true })
    return () => {
      document.removeEventListener('focusin', remember)
      changes.disconnect()
      window.clearTimeout(timer)
    }
  }, [main])
}

function ancestors(element: Element): readonly Element[] {
  const all: Element[] = []
  for (let one: Element | null = element; one !== null; one = one.parentElement) all.push(one)
  return all
}

/** What lies within the page or a dialog: the frame around them is no place to be. */
function inside(around: readonly Element[]): readonly Element[] {
  const end = around.findIndex((one) => one.matches('main, [role=dialog], [role=alertdialog]'))
  return around.slice(1, end + 1)
}
