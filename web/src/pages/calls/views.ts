export interface View {
  readonly name: string
  readonly search: Readonly<Record<string, string | undefined>>
}

const maxViews = 20

/** An organization's views that are stored in this browser, without those that can't be read. */
export function readViews(organization: string): readonly View[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(storageName(organization)) ?? '[]')
    return Array.isArray(kept) ? kept.filter(isView).slice(0, maxViews) : []
  } catch {
    return []
  }
}

/** Stores the last 20 of the views for the next visit. */
export function writeViews(organization: string, views: readonly View[]): void {
  try {
    localStorage.setItem(storageName(organization), JSON.stringify(views.slice(-maxViews)))
  } catch {
    // Storage is unavailable, so the views last only as long as the page.
  }
}

function isView(value: unknown): value is View {
  if (typeof value !== 'object' || value === null) return false
  const { name, search } = value as Partial<View>
  return typeof name === 'string' && typeof search === 'object'
}

function storageName(organization: string): string {
  return `calls-views:${organization}`
}
