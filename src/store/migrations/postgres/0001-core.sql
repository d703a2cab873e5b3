-- What belongs to no organization: which master key sealed this database, and the like.
create table setting (
  name text collate "C" primary key,
  value text collate "C" not null
);

create table organization (
  id text collate "C" primary key,
  slug text collate "C" not null unique,
  name text collate "C" not null,
  plan text collate "C" not null check (plan in ('standard', 'enterprise')),
  settings text collate "C" not null default '{}',
  version bigint not null default 1,
  created_at bigint not null,
  deleted_at bigint
);

-- One row an organization, locked by whoever writes audit entries or events: their sequences have no gaps.
create table organization_head (
  organization_id text collate "C" primary key,
  audit_sequence bigint not null default 0,
  audit_hash text collate "C" not null default '',
  event_sequence bigint not null default 0,
  -- Vouches for where the chain of audit entries ends (docs/decisions/018).
  audit_seal text not null default 'unsealed'
);
-- What the operator and the service do outside any organization.
insert into organization_head (organization_id) values ('system');

-- The change feed: what other nodes must hear. The sequence is the order of commits.
create table change (
  sequence bigint generated always as identity primary key,
  kind text collate "C" not null,
  organization_id text collate "C" not null,
  subject_id text collate "C" not null,
  at bigint not null,
  -- Random: after a failover or a restore the same sequence has another token, and nodes notice.
  token text collate "C" not null default ''
);

create table node (
  id text collate "C" primary key,
  started_at bigint not null,
  heartbeat_at bigint not null,
  seen_sequence bigint not null,
  -- How far the node has read, in which history.
  seen_token text collate "C" not null default '',
  -- Grows with every heartbeat, whatever clocks say.
  beats bigint not null default 0
);

-- The server that holds this database, and since when nodes have met it here.
create table database_server (
  only_row bigint primary key check (only_row = 1),
  identity text collate "C" not null,
  since bigint not null
);

create table api_key (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  name text collate "C" not null,
  scheme text collate "C" not null check (scheme in ('x-api-key', 'bearer')),
  created_at bigint not null,
  created_by text collate "C",
  personal_user_id text collate "C",
  grants text collate "C",
  cidrs text collate "C",
  rate_limit text collate "C",
  quota text collate "C",
  expires_at bigint,
  revoked_at bigint,
  revoked_by text collate "C",
  suspended_at bigint,
  expiry_announced_at bigint,
  last_used_at bigint,
  last_used_address text collate "C",
  last_used_agent text collate "C",
  last_used_target_id text collate "C",
  version bigint not null default 1
);
create index api_key_organization on api_key (organization_id, id);
create index api_key_personal on api_key (personal_user_id) where personal_user_id is not null;
create index api_key_expiry on api_key (expires_at) where expires_at is not null and revoked_at is null;

-- A key has one current secret and, while a rotation overlaps, an older one.
create table key_secret (
  digest text collate "C" primary key,
  key_id text collate "C" not null references api_key (id),
  organization_id text collate "C" not null,
  lookup text collate "C" not null,
  hint text collate "C" not null,
  created_at bigint not null,
  valid_until bigint,
  silent_announced_at bigint,
  last_used_at bigint,
  last_used_address text collate "C",
  last_used_agent text collate "C"
);
create index key_secret_key on key_secret (key_id);
create index key_secret_lookup on key_secret (lookup);
create index key_secret_overlap on key_secret (valid_until) where valid_until is not null;

-- Who still calls with the old secret of a rotation: one row a caller, at most so many a secret.
create table key_straggler (
  digest text collate "C" not null references key_secret (digest),
  address text collate "C" not null,
  agent text collate "C" not null,
  organization_id text collate "C" not null,
  key_id text collate "C" not null,
  target_id text collate "C",
  calls bigint not null,
  first_seen_at bigint not null,
  last_seen_at bigint not null,
  primary key (digest, address, agent)
);
create index key_straggler_key on key_straggler (key_id);
create index key_straggler_seen on key_straggler (last_seen_at);

create table target (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  slug text collate "C" not null,
  name text collate "C" not null,
  upstream text collate "C" not null,
  credential_header text collate "C",
  credential_sealed text collate "C",
  settings text collate "C" not null default '{}',
  disabled_at bigint,
  created_at bigint not null,
  version bigint not null default 1,
  -- What happens to calls that no rule decides: 'allow', 'refuse', or null = refuse as soon as an allow rule is in force.
  otherwise text,
  unique (organization_id, slug)
);

create table rule (
  id text collate "C" primary key,
  target_id text collate "C" not null references target (id),
  organization_id text collate "C" not null,
  position bigint not null,
  effect text collate "C" not null check (effect in ('allow', 'deny')),
  methods text collate "C" not null,
  path text collate "C" not null,
  trial bigint not null default 0 check (trial in (0, 1))
);
create index rule_target on rule (target_id, position);

create table audit_entry (
  organization_id text collate "C" not null,
  sequence bigint not null,
  id text collate "C" not null,
  at bigint not null,
  actor_kind text collate "C" not null,
  actor_id text collate "C",
  actor_name text collate "C",
  action text collate "C" not null,
  subject_kind text collate "C" not null,
  subject_id text collate "C" not null,
  detail text collate "C" not null,
  address text collate "C",
  request_id text collate "C",
  previous_hash text collate "C" not null,
  hash text collate "C" not null,
  primary key (organization_id, sequence)
);
create index audit_entry_at on audit_entry (at);
create index audit_entry_subject on audit_entry (organization_id, subject_id, sequence);

-- How far each chain of the audit log has been sent to a collector.
create table audit_export (
  organization_id text collate "C" not null primary key,
  sequence bigint not null,
  -- The head that was announced last, as an event.
  announced_sequence bigint not null default 0,
  announced_at bigint not null default 0
);

create table event (
  organization_id text collate "C" not null,
  sequence bigint not null,
  id text collate "C" not null unique,
  type text collate "C" not null,
  at bigint not null,
  body bytea not null,
  primary key (organization_id, sequence)
);
create index event_at on event (at);

-- ES256 key pairs of ours: session tokens, assertions to upstreams.
create table signing_key (
  id text collate "C" primary key,
  public_jwk text collate "C" not null,
  private_sealed text collate "C" not null,
  created_at bigint not null,
  retired_at bigint
);
