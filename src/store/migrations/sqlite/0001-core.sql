-- What belongs to no organization: which master key sealed this database, and the like.
create table setting (
  name text primary key,
  value text not null
) strict;

create table organization (
  id text primary key,
  slug text not null unique,
  name text not null,
  plan text not null check (plan in ('standard', 'enterprise')),
  settings text not null default '{}',
  version integer not null default 1,
  created_at integer not null,
  deleted_at integer
) strict;

-- One row an organization, locked by whoever writes audit entries or events: their sequences have no gaps.
create table organization_head (
  organization_id text primary key,
  audit_sequence integer not null default 0,
  audit_hash text not null default '',
  event_sequence integer not null default 0,
  -- Vouches for where the chain of audit entries ends (docs/decisions/018).
  audit_seal text not null default 'unsealed'
) strict;
-- What the operator and the service do outside any organization.
insert into organization_head (organization_id) values ('system');

-- The change feed: what other nodes must hear. The sequence is the order of commits.
create table change (
  sequence integer primary key autoincrement,
  kind text not null,
  organization_id text not null,
  subject_id text not null,
  at integer not null,
  -- Random: after a failover or a restore the same sequence has another token, and nodes notice.
  token text not null default ''
) strict;

create table node (
  id text primary key,
  started_at integer not null,
  heartbeat_at integer not null,
  seen_sequence integer not null,
  -- How far the node has read, in which history.
  seen_token text not null default '',
  -- Grows with every heartbeat, whatever clocks say.
  beats integer not null default 0
) strict;

-- The server that holds this database; SQLite has none, and the table stays empty.
create table database_server (
  only_row integer primary key check (only_row = 1),
  identity text not null,
  since integer not null
) strict;

create table api_key (
  id text primary key,
  organization_id text not null references organization (id),
  name text not null,
  scheme text not null check (scheme in ('x-api-key', 'bearer')),
  created_at integer not null,
  created_by text,
  personal_user_id text,
  grants text,
  cidrs text,
  rate_limit text,
  quota text,
  expires_at integer,
  revoked_at integer,
  revoked_by text,
  suspended_at integer,
  expiry_announced_at integer,
  last_used_at integer,
  last_used_address text,
  last_used_agent text,
  last_used_target_id text,
  version integer not null default 1
) strict;
create index api_key_organization on api_key (organization_id, id);
create index api_key_personal on api_key (personal_user_id) where personal_user_id is not null;
create index api_key_expiry on api_key (expires_at) where expires_at is not null and revoked_at is null;

-- A key has one current secret and, while a rotation overlaps, an older one.
create table key_secret (
  digest text primary key,
  key_id text not null references api_key (id),
  organization_id text not null,
  lookup text not null,
  hint text not null,
  created_at integer not null,
  valid_until integer,
  silent_announced_at integer,
  last_used_at integer,
  last_used_address text,
  last_used_agent text
) strict;
create index key_secret_key on key_secret (key_id);
create index key_secret_lookup on key_secret (lookup);
create index key_secret_overlap on key_secret (valid_until) where valid_until is not null;

-- Who still calls with the old secret of a rotation: one row a caller, at most so many a secret.
create table key_straggler (
  digest text not null references key_secret (digest),
  address text not null,
  agent text not null,
  organization_id text not null,
  key_id text not null,
  target_id text,
  calls integer not null,
  first_seen_at integer not null,
  last_seen_at integer not null,
  primary key (digest, address, agent)
) strict;
create index key_straggler_key on key_straggler (key_id);
create index key_straggler_seen on key_straggler (last_seen_at);

create table target (
  id text primary key,
  organization_id text not null references organization (id),
  slug text not null,
  name text not null,
  upstream text not null,
  credential_header text,
  credential_sealed text,
  settings text not null default '{}',
  disabled_at integer,
  created_at integer not null,
  version integer not null default 1,
  -- What happens to calls that no rule decides: 'allow', 'refuse', or null = refuse as soon as an allow rule is in force.
  otherwise text,
  unique (organization_id, slug)
) strict;

create table rule (
  id text primary key,
  target_id text not null references target (id),
  organization_id text not null,
  position integer not null,
  effect text not null check (effect in ('allow', 'deny')),
  methods text not null,
  path text not null,
  trial integer not null default 0 check (trial in (0, 1))
) strict;
create index rule_target on rule (target_id, position);

create table audit_entry (
  organization_id text not null,
  sequence integer not null,
  id text not null,
  at integer not null,
  actor_kind text not null,
  actor_id text,
  actor_name text,
  action text not null,
  subject_kind text not null,
  subject_id text not null,
  detail text not null,
  address text,
  request_id text,
  previous_hash text not null,
  hash text not null,
  primary key (organization_id, sequence)
) strict;
create index audit_entry_at on audit_entry (at);
create index audit_entry_subject on audit_entry (organization_id, subject_id, sequence);

-- How far each chain of the audit log has been sent to a collector.
create table audit_export (
  organization_id text not null primary key,
  sequence integer not null,
  -- The head that was announced last, as an event.
  announced_sequence integer not null default 0,
  announced_at integer not null default 0
) strict, without rowid;

create table event (
  organization_id text not null,
  sequence integer not null,
  id text not null unique,
  type text not null,
  at integer not null,
  body blob not null,
  primary key (organization_id, sequence)
) strict;
create index event_at on event (at);

-- ES256 key pairs of ours: session tokens, assertions to upstreams.
create table signing_key (
  id text primary key,
  public_jwk text not null,
  private_sealed text not null,
  created_at integer not null,
  retired_at integer
) strict;
