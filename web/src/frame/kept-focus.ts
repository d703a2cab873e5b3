import { useEffect, type RefObject } from 'react'

/** How long a closing dialog may take to return the focus to an element, before the focus is considered lost. */
const patienceMs = 120

/**
 * Keeps the focus nearby when the focused element disappears; otherwise the browser would move it to the start of the
 * document. The focus moves to the nearest remaining container, not to another control, because a key that is still
 * held down would trigger that control.
 */
export function useKeptFocus(main: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    // Two elements, each followed by its ancestors: the one that last had the focus anywhere in the document, and the
    // one that last had it within the page.
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

/**
 * Returns the ancestors of the first element up to the page or dialog that contains it, because the focus must not move
 * further out; none if no page or dialog contains it.
 */
function inside(around: readonly Element[]): readonly Element[] {
  const end = around.findIndex((one) => one.matches('main, [role=dialog], [role=alertdialog]'))
  return around.slice(1, end + 1)
}
