import { Menu as Base } from '@base-ui/react/menu'
import type { ReactElement, ReactNode } from 'react'
import classes from './dialog.module.css'
import { Icon, type IconName } from './Icon.tsx'

/** A menu that a button opens. */
export function Menu({
  trigger,
  children,
  side = 'bottom',
  align = 'end',
}: {
  readonly trigger: ReactElement
  readonly children: ReactNode
  readonly side?: 'bottom' | 'top'
  readonly align?: 'start' | 'end'
}) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner side={side} align={align} sideOffset={6} collisionPadding={12}>
          <Base.Popup className={classes.menu}>{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

/** One line of a menu; give `render` a link to make it one. */
export function MenuItem({
  icon,
  onClick,
  render,
  children,
}: {
  readonly icon?: IconName
  readonly onClick?: () => void
  readonly render?: ReactElement
  readonly children: ReactNode
}) {
  return (
    <Base.Item
      className={classes.menuItem}
      {...(onClick === undefined ? {} : { onClick })}
      {...(render === undefined ? {} : { render })}
    >
      {icon === undefined ? undefined : <Icon name={icon} />}
      <span>{children}</span>
    </Base.Item>
  )
}

/** Exclusive choices in a menu. */
export function MenuChoice<Value extends string>({
  label,
  value,
  options,
  onValue,
}: {
  readonly label: string
  readonly value: Value
  readonly options: readonly { value: Value; label: string }[]
  readonly onValue: (value: Value) => void
}) {
  return (
    <Base.Group>
      <Base.GroupLabel className={classes.menuLabel}>{label}</Base.GroupLabel>
      <Base.RadioGroup value={value} onValueChange={(next: Value) => onValue(next)}>
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

/** A line between groups. */
export function MenuLine() {
  return <Base.Separator className={classes.menuLine} />
}
