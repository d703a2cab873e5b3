import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/index.ts'

export interface SharedRatesDeps {
  readonly store: Store
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** How rates are shared at present, as this node sees it. */
export interface SharedRatesState {
  readonly nodes: number
  readonly isShared: boolean
  readonly subjects: number
  /** The number of subjects for which this node needs a larger share than it holds. */
  readonly short: number
}
