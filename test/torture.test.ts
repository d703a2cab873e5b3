// Runs the tortures with one node, except the long ones, for a few seconds each. `npm run torture -- <name>` runs one
// at full length.
import { runShortTortures } from './harness/short-tortures.ts'

runShortTortures('one node')
