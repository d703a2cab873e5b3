const paths = {
  overview: 'M2.5 8.5 8 3l5.5 5.5M4 7.5V13h8V7.5',
  calls: 'M2 8h3.2M10.8 8H14M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6',
  keys: 'M7.2 8.8 13 3m-2 2 1.6 1.6M9.4 6.6 10.6 7.8M5.2 13a2.7 2.7 0 1 0 0-5.4 2.7 2.7 0 0 0 0 5.4',
  targets: 'M8 2v2.4M8 11.6V14M2 8h2.4M11.6 8H14M8 4.6a3.4 3.4 0 1 1 0 6.8 3.4 3.4 0 0 1 0-6.8',
  webhooks: 'M2 13l5.2-5.2M9 2.5 13.5 7 9.6 8.4 7.6 6.4zM2.5 7.5v0M8.5 13.5v0',
  members:
    'M6 7.6a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6M2 13c.3-2.3 1.9-3.6 4-3.6s3.7 1.3 4 3.6M10.6 7.3a2 2 0 1 0-.6-3.9M11.6 9.6c1.4.3 2.2 1.5 2.4 3.4',
  sso: 'M8 2 3 4v3.6c0 3 2 5.2 5 6.4 3-1.2 5-3.4 5-6.4V4zM5.8 8l1.6 1.6L10.4 6.6',
  audit: 'M4 2.5h8v11H4zM6.2 5.5h3.6M6.2 8h3.6M6.2 10.5h2',
  settings: 'M3 4.5h5.5M11.5 4.5H13M3 11.5h1.5M7.5 11.5H13M10 3v3M6 10v3',
  help: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M6.3 6.3C6.5 5.3 7.2 4.9 8 4.9c1 0 1.7.6 1.7 1.5 0 1.3-1.7 1.4-1.7 2.7M8 11.2v0',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10M10.7 10.7 14 14',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  close: 'M4 4l8 8M12 4l-8 8',
  chevron: 'M4.5 6.5 8 10l3.5-3.5',
  up: 'M8 12.5v-9M4.5 7 8 3.5 11.5 7',
  down: 'M8 3.5v9M4.5 9 8 12.5 11.5 9',
  copy: 'M5.5 5.5h7.5v7.5H5.5zM3 10.5V3h7.5',
  check: 'M3 8.5 6.5 12 13 4.5',
  plus: 'M8 3v10M3 8h10',
  out: 'M6.5 3H3v10h3.5M7 8h6.5M11 5.5 13.5 8 11 10.5',
  user: 'M8 8a2.7 2.7 0 1 0 0-5.4A2.7 2.7 0 0 0 8 8M3 13.5c.4-2.5 2.3-3.7 5-3.7s4.6 1.2 5 3.7',
  edit: 'M3 13l.6-2.9 7-7 2.3 2.3-7 7zM9.2 4.5l2.3 2.3',
  arrow: 'M3 8h10M9.5 4.5 13 8l-3.5 3.5',
} as const

export type IconName = keyof typeof paths

/** A 16 px line icon. Screen readers skip it, because the text next to it or the label of its button says the same. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path
        d={paths[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  )
}
