// Runs the tortures with several nodes for a few seconds each; `npm run torture -- <name>` runs one at full length.
import { runShortTortures } from './harness/short-tortures.ts'

runShortTortures('several nodes')
