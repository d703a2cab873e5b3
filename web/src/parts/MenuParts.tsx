import { Menu as Base } from '@base-ui/react/menu'
import type { ReactElement, ReactNode, RefObject } from 'react'
import classes from './dialog.module.css'
import { Icon, type IconName } from './Icon.tsx'

export interface MenuPopupProps {
  /** The button that opened the menu. The popup appears next to this button and later returns the focus to it. */
  readonly trigger: RefObject<HTMLElement | null>
  readonly open: boolean
  readonly byKeyboard: boolean
  readonly onClose: () => void
  readonly side: 'bottom' | 'top'
  readonly align: 'start' | 'end'
  readonly children: ReactNode
}

export function MenuPopup(props: MenuPopupProps) {
  const { trigger, open, byKeyboard, onClose, side, align, children } = props
  return (
    <Base.Root
      modal={false}
      open={open}
      onOpenChange={(next, details) => {
        if (next) return
        const { target } = details.event
        // A press on the button is left to the button's own click, which closes the menu; closing it here would make
        // that click open it again.
        if (target instanceof Node && trigger.current?.contains(target) === true) details.cancel()
        else onClose()
      }}
    >
      <Base.Portal>
        <Base.Positioner
          anchor={trigger}
          side={side}
          align={align}
          sideOffset={6}
          collisionPadding={12}
        >
          <Base.Popup
            className={classes.menu}
            aria-labelledby={trigger.current?.id}
            finalFocus={trigger}
            onFocus={({ target, currentTarget }) => {
              // If the menu was opened with the keyboard, its first entry gets the focus instead of the menu itself.
              if (byKeyboard && target === currentTarget) firstItem(currentTarget)?.focus()
            }}
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

function firstItem(popup: HTMLElement): HTMLElement | null {
  return popup.querySelector<HTMLElement>('[role^=menuitem]')
}

export interface MenuItemProps {
  readonly icon?: IconName
  readonly onClick?: () => void
  readonly disabled?: boolean
  /** A link to render instead of the entry's own element. */
  readonly render?: ReactElement
  readonly children: ReactNode
}

export function MenuItem({ icon, onClick, disabled = false, render, children }: MenuItemProps) {
  return (
    <Base.Item
      className={classes.menuItem}
      disabled={disabled}
      {...(onClick === undefined ? {} : { onClick })}
      {...(render === undefined ? {} : { render })}
    >
      {icon === undefined ? undefined : <Icon name={icon} />}
      <span>{children}</span>
    </Base.Item>
  )
}

export interface MenuChoiceProps {
  readonly label: string
  readonly value: string
  readonly options: readonly { readonly value: string; readonly label: string }[]
  readonly onValue: (value: string) => void
}

export function MenuChoice({ label, value, options, onValue }: MenuChoiceProps) {
  return (
    <Base.Group>
      <Base.GroupLabel className={classes.menuLabel}>{label}</Base.GroupLabel>
      <Base.RadioGroup value={value} onValueChange={(next: string) => onValue(next)}>
        {options.map((option) => (
          <Base.RadioItem
            key={option.value}
            value={option.value}
            className={classes.menuItem}
            closeOnClick
          >
            <span>{option.label}</span>
            <Base.RadioItemIndicator>
              <Icon name="check" />
            </Base.RadioItemIndicator>
          </Base.RadioItem>
        ))}
      </Base.RadioGroup>
    </Base.Group>
  )
}

export function MenuLine() {
  return <Base.Separator className={classes.menuLine} />
}
