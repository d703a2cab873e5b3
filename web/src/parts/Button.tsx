import { createLink } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'
import classes from './controls.module.css'
import { cx } from './cx.ts'
import { Icon, type IconName } from './Icon.tsx'

type Look = 'plain' | 'primary' | 'danger' | 'dangerFull' | 'quiet'

interface Looks {
  readonly look?: Look
  readonly small?: boolean
  readonly icon?: IconName
  readonly busy?: boolean
  readonly children?: ReactNode
}

/** The classes of a button, also for links that look like one. */
export function buttonClass(
  look: Look = 'plain',
  more: { small?: boolean; icon?: boolean } = {},
): string {
  return cx(
    classes.button,
    look !== 'plain' && classes[look],
    more.small === true && classes.small,
    more.icon === true && classes.icon,
  )
}

/** A button; while `busy`, it stays focusable, is announced as disabled, and does nothing. */
export function Button({
  look = 'plain',
  small = false,
  icon,
  busy = false,
  children,
  ...rest
}: Looks & ComponentProps<'button'>) {
  return (
    <button
      type="button"
      {...rest}
      {...(busy ? { 'aria-disabled': true, onClick: (event) => event.preventDefault() } : {})}
      className={cx(
        buttonClass(look, { small, icon: children === undefined }),
        busy && classes.busy,
        rest.className,
      )}
    >
      {icon === undefined ? undefined : <Icon name={icon} />}
      {children}
    </button>
  )
}

function Anchor({
  look = 'plain',
  small = false,
  icon,
  children,
  ...rest
}: Omit<Looks, 'busy'> & ComponentProps<'a'>) {
  return (
    <a {...rest} className={buttonClass(look, { small })}>
      {icon === undefined ? undefined : <Icon name={icon} />}
      {children}
    </a>
  )
}

/** A link inside the dashboard that looks like a button. */
export const ButtonLink = createLink(Anchor)

/**
 * The yellow lamp, which means that something is waiting or live. Screen readers get the same from the word next to the
 * lamp.
 */
export function Lamp({ on = true }: { readonly on?: boolean }) {
  return <span className={cx(classes.lamp, on && classes.lampOn)} aria-hidden="true" />
}
