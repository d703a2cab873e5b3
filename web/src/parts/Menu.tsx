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

// Loaded when a menu's button is first hovered or focused, because most pages have menus but few visits open one.
const load = whole(async () => await import('./MenuParts.tsx'))
const MenuPopup = lazy(async () => ({ default: (await load()).MenuPopup }))

/** One entry of a menu; to make it a link, pass the link as `render`. */
export const MenuItem = lazy(async () => ({ default: (await load()).MenuItem }))
export const MenuChoice = lazy(async () => ({ default: (await load()).MenuChoice }))
export const MenuLine = lazy(async () => ({ default: (await load()).MenuLine }))

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
  // The popup stays mounted once it has been opened, so that its closing can be animated.
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
          // A click with a `detail` of 0 came from Enter or the space bar.
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
