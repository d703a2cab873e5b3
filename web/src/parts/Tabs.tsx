import { Tabs as Base } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'
import { cx } from './cx.ts'
import classes from './surface.module.css'

export interface TabDescription {
  readonly id: string
  readonly label: string
  readonly content: ReactNode
}

/** Tabs; with `value`, the caller controls which one is open, for example from the URL. */
export function Tabs({
  label,
  tabs,
  value,
  onValue,
  inside = false,
}: {
  readonly label: string
  readonly tabs: readonly TabDescription[]
  readonly value?: string
  readonly onValue?: (value: string) => void
  readonly inside?: boolean
}) {
  return (
    <Base.Root
      {...(value === undefined ? { defaultValue: tabs[0]?.id } : { value })}
      onValueChange={(next: string) => onValue?.(next)}
    >
      <Base.List className={cx(classes.tabs, inside && classes.tabsIn)} aria-label={label}>
        {tabs.map((tab) => (
          <Base.Tab key={tab.id} value={tab.id} className={classes.tab}>
            {tab.label}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Panel key={tab.id} value={tab.id}>
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  )
}
