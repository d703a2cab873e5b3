import {
  cloneElement,
  lazy,
  Suspense,
  useId,
  useRef,
  useState,
  type ComponentProps,
  type KeyboardEvent,
  type MouseEvent,
  type ReactElement,
  type ReactNode,
} from 'react'
import { whole } from '../parts/upgrade.ts'

// Every page has menus and few visits open one: what they are made of comes with the first look at a button.
const load = whole(async () => await import('./MenuParts.tsx'))
const MenuPopup = lazy(async () => ({ default: (await load()).MenuPopup }))

/** One line of a menu; give `render` a link to make it one. */
export const MenuItem = lazy(async () => ({ default: (await load()).MenuItem }))
/** Exclusive choices in a menu. */
export const MenuChoice = lazy(async () => ({ default: (await load()).MenuChoice }))
/** A line between groups. */
export const MenuLine = lazy(async () => ({ default: (await load()).MenuLine }))

/** A menu that a button opens. */
export function Menu({
  trigger,
  children,
  side = 'bottom',
  align = 'end',
}: {
  readonly trigger: ReactElement<ComponentProps<'button'>>
  readonly children: ReactNode
  readonly side?: 'bottom' | 'top'
  readonly align?: 'start' | 'end'
}) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const [opened, setOpened] = useState<'no' | 'pointer' | 'keyboard'>('no')
  // Once opened it stays, so that it can also fade out.
  const [seen, setSeen] = useState(false)
  function open(how: 'pointer' | 'keyboard') {
    setSeen(true)
    setOpened(how)
  }
  const comes = () => void load().catch(() => undefined)
  return (
    <>
      {cloneElement(trigger, {
        id,
        ref: button,
        'aria-haspopup': 'menu',
        'aria-expanded': opened !== 'no',
        onPointerEnter: comes,
        onFocus: comes,
        onClick: (event: MouseEvent) => {
          if (trigger.props['aria-disabled'] === true) return
          // A click without coordinates is Enter or the space bar.
          if (opened === 'no') open(event.detail === 0 ? 'keyboard' : 'pointer')
          else setOpened('no')
        },
        onKeyDown: (event: KeyboardEvent) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
          event.preventDefault()
          open('keyboard')
        },
      })}
      {seen ? (
        <Suspense fallback={undefined}>
          <MenuPopup
            trigger={button}
            open={opened !== 'no'}
            byKeyboard={opened === 'keyboard'}
            onClose={() => setOpened('no')}
            side={side}
            align={align}
          >
            {children}
          </MenuPopup>
        </Suspense>
      ) : undefined}
    </>
  )
}
