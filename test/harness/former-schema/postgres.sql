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

create table organization_head (
  organization_id text collate "C" primary key,
  audit_sequence bigint not null default 0,
  audit_hash text collate "C" not null default '',
  event_sequence bigint not null default 0
);
insert into organization_head (organization_id) values ('system');

create table change (
  sequence bigint generated always as identity primary key,
  kind text collate "C" not null,
  organization_id text collate "C" not null,
  subject_id text collate "C" not null,
  at bigint not null
);

create table node (
  id text collate "C" primary key,
  started_at bigint not null,
  heartbeat_at bigint not null,
  seen_sequence bigint not null
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

create table signing_key (
  id text collate "C" primary key,
  public_jwk text collate "C" not null,
  private_sealed text collate "C" not null,
  created_at bigint not null,
  retired_at bigint
);

create table call (
  id text collate "C" primary key,
  at bigint not null,
  organization_id text collate "C" not null,
  key_id text collate "C" not null,
  target_id text collate "C",
  method text collate "C" not null,
  path text collate "C" not null,
  status bigint not null,
  refusal text collate "C",
  stopped_at text collate "C",
  rule_id text collate "C",
  bytes_in bigint not null,
  bytes_out bigint not null,
  duration_us bigint not null,
  upstream_us bigint,
  address text collate "C" not null,
  agent text collate "C",
  capture text collate "C"
);
create index call_at on call (at);
create index call_organization on call (organization_id, at, id);
create index call_key on call (organization_id, key_id, at, id);

create table call_minute (
  organization_id text collate "C" not null,
  minute bigint not null,
  target_id text collate "C" not null,
  stopped_at text collate "C" not null,
  calls bigint not null,
  errors bigint not null,
  bytes_in bigint not null,
  bytes_out bigint not null,
  duration_us bigint not null,
  primary key (organization_id, minute, target_id, stopped_at)
);
create index call_minute_minute on call_minute (minute);
create table "user" (
  id text collate "C" primary key,
  name text collate "C" not null,
  email text collate "C",
  email_key text collate "C",
  created_at bigint not null,
  last_seen_at bigint,
  deactivated_at bigint,
  version bigint not null default 1
);
create index user_by_email on "user" (email_key) where email_key is not null;

create table identity (
  id text collate "C" primary key,
  user_id text collate "C" not null references "user" (id),
  provider text collate "C" not null,
  connection_id text collate "C" not null default '',
  issuer text collate "C" not null,
  subject text collate "C" not null,
  email text collate "C",
  email_verified bigint not null default 0 check (email_verified in (0, 1)),
  name text collate "C",
  created_at bigint not null,
  last_used_at bigint,
  unique (connection_id, issuer, subject)
);
create index identity_user on identity (user_id);

create table membership (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  user_id text collate "C" not null references "user" (id),
  role text collate "C" not null check (role in ('owner', 'admin', 'developer', 'viewer')),
  source text collate "C" not null,
  created_at bigint not null,
  deactivated_at bigint,
  version bigint not null default 1,
  unique (organization_id, user_id)
);
create index membership_user on membership (user_id);

create table invitation (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  email text collate "C" not null,
  email_key text collate "C" not null,
  role text collate "C" not null check (role in ('owner', 'admin', 'developer', 'viewer')),
  digest text collate "C" not null unique,
  created_at bigint not null,
  created_by text collate "C",
  expires_at bigint not null,
  accepted_at bigint,
  accepted_by text collate "C",
  revoked_at bigint
);
create index invitation_organization on invitation (organization_id, id);
create index invitation_email on invitation (email_key) where accepted_at is null and revoked_at is null;

create table session (
  id text collate "C" primary key,
  user_id text collate "C" not null references "user" (id),
  digest text collate "C" not null unique,
  provider text collate "C" not null,
  identity_id text collate "C",
  connection_id text collate "C",
  signed_in_at bigint not null,
  expires_at bigint not null,
  last_seen_at bigint not null,
  address text collate "C",
  agent text collate "C",
  ended_at bigint,
  ended_by text collate "C",
  end_reason text collate "C"
);
create index session_of_user on session (user_id, id);
create index session_expiry on session (expires_at);

create table sign_in_link (
  digest text collate "C" primary key,
  kind text collate "C" not null check (kind in ('setup', 'sign_in')),
  user_id text collate "C" references "user" (id),
  created_at bigint not null,
  expires_at bigint not null,
  used_at bigint
);

create table used_once (
  digest text collate "C" primary key,
  expires_at bigint not null
);
create index used_once_expiry on used_once (expires_at);

create table idempotent_answer (
  user_id text collate "C" not null,
  key_digest text collate "C" not null,
  route text collate "C" not null,
  request_digest text collate "C" not null,
  status bigint,
  answer_sealed text collate "C",
  created_at bigint not null,
  primary key (user_id, key_digest)
);
create index idempotent_answer_created on idempotent_answer (created_at);
create table endpoint (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  url text collate "C" not null,
  description text collate "C" not null default '',
  types text collate "C",
  headers_sealed text collate "C",
  header_names text collate "C" not null default '[]',
  rate_per_second bigint,
  ordered bigint not null default 0 check (ordered in (0, 1)),
  public_key text collate "C",
  private_key_sealed text collate "C",
  created_at bigint not null,
  created_by text collate "C",
  deleted_at bigint,
  version bigint not null default 1,
  state text collate "C" not null default 'active' check (state in ('active', 'held', 'disabled')),
  disabled_reason text collate "C",
  failures bigint not null default 0,
  failing_since bigint,
  last_success_at bigint,
  last_attempt_at bigint,
  held_at bigint,
  probe_at bigint,
  probe_delay_ms bigint,
  lease_owner text collate "C",
  lease_token bigint not null default 0,
  lease_until bigint
);
create index endpoint_organization on endpoint (organization_id, id);

create table endpoint_count (
  endpoint_id text collate "C" primary key references endpoint (id),
  organization_id text collate "C" not null,
  committed bigint not null default 0,
  removed_delivered bigint not null default 0,
  removed_dead bigint not null default 0,
  removed_skipped bigint not null default 0
);

create table delivery (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  event_sequence bigint not null,
  event_id text collate "C" not null,
  type text collate "C" not null,
  state text collate "C" not null check (state in ('pending', 'delivered', 'dead', 'skipped')),
  due_at bigint not null,
  attempts bigint not null default 0,
  attempts_ever bigint not null default 0,
  version bigint not null default 1,
  created_at bigint not null,
  completed_at bigint,
  last_attempt_at bigint,
  last_status bigint,
  last_failure text collate "C",
  skipped_reason text collate "C",
  operation_id text collate "C",
  unique (organization_id, event_sequence, endpoint_id)
);
create index delivery_organization on delivery (organization_id, id);
create index delivery_due on delivery (endpoint_id, due_at, id) where state = 'pending';
create index delivery_state on delivery (endpoint_id, state, event_sequence);
create index delivery_operation on delivery (operation_id, state) where operation_id is not null;

create table attempt (
  id text collate "C" primary key,
  delivery_id text collate "C" not null,
  organization_id text collate "C" not null,
  number bigint not null,
  probe bigint not null default 0 check (probe in (0, 1)),
  started_at bigint not null,
  duration_ms bigint not null,
  status bigint,
  failure text collate "C",
  response_body bytea,
  response_truncated bigint not null default 0 check (response_truncated in (0, 1))
);
create index attempt_delivery on attempt (delivery_id, id);

create table webhook_secret (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  sealed text collate "C" not null,
  hint text collate "C" not null,
  created_at bigint not null,
  valid_until bigint
);
create index webhook_secret_organization on webhook_secret (organization_id, created_at);

create table operation (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  kind text collate "C" not null,
  state text collate "C" not null check (state in ('running', 'paused', 'cancelled', 'done', 'failed')),
  parameters text collate "C" not null,
  total bigint not null,
  done bigint not null default 0,
  cursor text collate "C" not null default '',
  error text collate "C",
  created_at bigint not null,
  created_by text collate "C",
  created_by_name text collate "C",
  updated_at bigint not null,
  finished_at bigint
);
create index operation_organization on operation (organization_id, id);
create index operation_running on operation (id) where state = 'running';
create table directory (
  organization_id text collate "C" primary key references organization (id),
  next_position bigint not null default 1,
  last_request_at bigint
);

create table directory_token (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  name text collate "C" not null,
  digest text collate "C" not null unique,
  hint text collate "C" not null,
  created_at bigint not null,
  created_by text collate "C",
  last_used_at bigint,
  last_used_address text collate "C",
  last_used_agent text collate "C",
  revoked_at bigint,
  revoked_by text collate "C"
);
create index directory_token_organization on directory_token (organization_id, id);

create table directory_user (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  user_id text collate "C" not null references "user" (id),
  position bigint not null,
  user_name_key text collate "C" not null,
  external_id text collate "C",
  active bigint not null check (active in (0, 1)),
  attributes text collate "C" not null,
  folded jsonb not null,
  version bigint not null default 1,
  created_at bigint not null,
  modified_at bigint not null
);
create unique index directory_user_position on directory_user (organization_id, position);
create unique index directory_user_name on directory_user (organization_id, user_name_key);
create index directory_user_external on directory_user (organization_id, external_id) where external_id is not null;
create index directory_user_person on directory_user (user_id);

create table directory_email (
  organization_id text collate "C" not null,
  value_key text collate "C" not null,
  directory_user_id text collate "C" not null,
  primary key (organization_id, value_key, directory_user_id)
);
create index directory_email_user on directory_email (directory_user_id);

create table directory_departed (
  organization_id text collate "C" not null,
  external_id text collate "C" not null,
  directory_user_id text collate "C" not null,
  user_id text collate "C" not null,
  departed_at bigint not null,
  primary key (organization_id, external_id)
);

create table directory_group (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  position bigint not null,
  display_name_key text collate "C" not null,
  external_id text collate "C",
  attributes text collate "C" not null,
  folded jsonb not null,
  role text collate "C" check (role in ('admin', 'developer', 'viewer')),
  members bigint not null default 0,
  version bigint not null default 1,
  created_at bigint not null,
  modified_at bigint not null
);
create unique index directory_group_position on directory_group (organization_id, position);
create index directory_group_name on directory_group (organization_id, display_name_key);
create index directory_group_external on directory_group (organization_id, external_id) where external_id is not null;

create table directory_member (
  group_id text collate "C" not null,
  directory_user_id text collate "C" not null,
  organization_id text collate "C" not null,
  primary key (group_id, directory_user_id)
);
create index directory_member_user on directory_member (directory_user_id, group_id);

create table directory_count (
  organization_id text collate "C" not null,
  kind text collate "C" not null check (kind in ('user', 'group')),
  bucket bigint not null,
  amount bigint not null,
  primary key (organization_id, kind, bucket)
);

create table directory_walk (
  token_id text collate "C" not null,
  query_digest text collate "C" not null,
  next_index bigint not null,
  next_place text collate "C" not null,
  previous_index bigint,
  previous_place text collate "C",
  at bigint not null,
  primary key (token_id, query_digest)
);

create table directory_request (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  token_id text collate "C" not null,
  at bigint not null,
  method text collate "C" not null,
  path text collate "C" not null,
  status bigint not null,
  scim_type text collate "C",
  detail text collate "C",
  sent text collate "C",
  duration_us bigint not null,
  address text collate "C",
  agent text collate "C",
  primary key (organization_id, id)
);
create table connection (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  name text collate "C" not null,
  kind text collate "C" not null check (kind in ('okta', 'entra', 'google', 'other')),
  issuer text collate "C" not null,
  client_id text collate "C" not null,
  credential_kind text collate "C" not null check (credential_kind in ('secret', 'key')),
  credential_sealed text collate "C" not null,
  public_jwk text collate "C",
  settings text collate "C" not null,
  is_default bigint not null default 0 check (is_default in (0, 1)),
  disabled_at bigint,
  created_at bigint not null,
  tested_at bigint,
  last_used_at bigint,
  last_refusal text collate "C",
  version bigint not null default 1
);
create index connection_organization on connection (organization_id, id);
create index connection_issuer on connection (issuer);

create table connection_test (
  id text collate "C" primary key,
  connection_id text collate "C" not null references connection (id),
  organization_id text collate "C" not null,
  user_id text collate "C" not null,
  created_at bigint not null,
  finished_at bigint,
  passed bigint check (passed in (0, 1)),
  result text collate "C"
);
create index connection_test_connection on connection_test (connection_id, id);

create table domain (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organization (id),
  name text collate "C" not null,
  challenge text collate "C" not null,
  connection_id text collate "C" references connection (id),
  created_at bigint not null,
  verified_at bigint,
  verified_by text collate "C" check (verified_by in ('dns', 'operator')),
  lost_at bigint,
  checked_at bigint,
  next_check_at bigint,
  seen text collate "C",
  unique (organization_id, name)
);
create index domain_next_check on domain (next_check_at) where next_check_at is not null;

create table domain_holder (
  name text collate "C" primary key,
  domain_id text collate "C" not null references domain (id),
  organization_id text collate "C" not null
);

create table provider_session (
  session_id text collate "C" primary key,
  connection_id text collate "C" not null,
  user_id text collate "C" not null,
  subject text collate "C" not null,
  provider_session text collate "C",
  expires_at bigint not null
);
create index provider_session_subject on provider_session (connection_id, subject);
create index provider_session_expiry on provider_session (expires_at);
alter table connection add column set_by_owner bigint not null default 0 check (set_by_owner in (0, 1));
drop table call;
create table call (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  at bigint not null,
  key_id text collate "C" not null,
  target_id text collate "C",
  method text collate "C" not null,
  path text collate "C" not null,
  status bigint not null,
  refusal text collate "C",
  stopped_at text collate "C",
  rule_id text collate "C",
  trial_rule_id text collate "C",
  bytes_in bigint not null,
  bytes_out bigint not null,
  duration_us bigint not null,
  upstream_us bigint,
  address text collate "C" not null,
  agent text collate "C",
  capture text collate "C",
  primary key (organization_id, id)
);
create index call_key on call (organization_id, key_id, id);

create table quota_use (
  organization_id text collate "C" not null,
  subject_id text collate "C" not null,
  period_at bigint not null,
  calls bigint not null,
  primary key (organization_id, subject_id, period_at)
);

create table rule_day (
  organization_id text collate "C" not null,
  rule_id text collate "C" not null,
  day_at bigint not null,
  decided bigint not null,
  would_refuse bigint not null,
  primary key (organization_id, rule_id, day_at)
);
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
alter table directory_user add column shared_external_id text collate "C" not null default '';
update directory_user set shared_external_id = id
where external_id is not null and exists (
  select 1 from directory_user as other
  where other.organization_id = directory_user.organization_id
    and other.external_id = directory_user.external_id and other.id <> directory_user.id
);
drop index directory_user_external;
create unique index directory_user_external on directory_user (organization_id, external_id, shared_external_id)
where external_id is not null;
alter table change add column token text collate "C" not null default '';

alter table node add column seen_token text collate "C" not null default '';
alter table node add column beats bigint not null default 0;

create table database_server (
  only_row bigint primary key check (only_row = 1),
  identity text collate "C" not null,
  since bigint not null
);
alter table "user" add column email_organization_id text collate "C";
update "user" set email_organization_id =
  (select min(organization_id) from directory_user
    where directory_user.user_id = "user".id and directory_user.created_at = "user".created_at)
  where email_key is not null;

alter table identity add column awaits_owner text collate "C" check (awaits_owner in ('connection', 'directory'));
update identity set awaits_owner = 'connection'
  where connection_id in (select id from connection where set_by_owner = 0);
alter table directory_request add column ignored text collate "C";
alter table directory_request add column resource_id text collate "C";
alter table quota_use add column claimed bigint not null default 0;
alter table quota_use add column granted bigint not null default 0;
update quota_use set claimed = calls;
alter table organization_head add column audit_seal text not null default 'unsealed';
alter table target add column otherwise text;

update target set otherwise = 'refuse'
where exists (select 1 from rule where rule.target_id = target.id and rule.trial = 0)
  and not exists (
    select 1 from rule
    where rule.target_id = target.id and rule.trial = 0 and rule.effect = 'allow'
  );
alter table provider_session add column id_token_sealed text collate "C";
create table rate_share (
  subject_id text collate "C" not null,
  node_id text collate "C" not null,
  organization_id text collate "C" not null,
  share bigint not null,
  whole_at bigint not null,
  demand double precision not null,
  short bigint not null check (short in (0, 1)),
  changed_at bigint not null,
  primary key (subject_id, node_id)
);
create index rate_share_changed on rate_share (changed_at);

create table rate_node (
  node_id text collate "C" not null primary key,
  until bigint not null
);
create table access_token (
  id text collate "C" primary key,
  organization_id text collate "C" references organization (id),
  name text collate "C" not null,
  digest text collate "C" not null unique,
  hint text collate "C" not null,
  permissions text collate "C" not null,
  cidrs text collate "C",
  created_at bigint not null,
  created_by text collate "C",
  creator_user_id text collate "C" references "user" (id),
  expires_at bigint,
  expiring_announced_at bigint,
  last_used_at bigint,
  last_used_address text collate "C",
  last_used_agent text collate "C",
  revoked_at bigint,
  revoked_by text collate "C"
);
create index access_token_organization on access_token (organization_id, id);
create index access_token_expiry on access_token (expires_at) where expires_at is not null and revoked_at is null;
alter table call rename to call_other;
alter index call_pkey rename to call_other_pkey;
alter index call_key rename to call_other_key;
create table call (like call_other, primary key (organization_id, id)) partition by range (id);
create index call_key on call (organization_id, key_id, id);
alter table call attach partition call_other default;
create table audit_export (
  organization_id text collate "C" not null primary key,
  sequence bigint not null
);
alter table audit_export add column announced_sequence bigint not null default 0;
alter table audit_export add column announced_at bigint not null default 0;
alter table identity add column former_client_id text collate "C";
create table managed (
  organization_id text collate "C" not null,
  section text collate "C" not null,
  name text collate "C" not null,
  subject_id text collate "C",
  label text collate "C" not null,
  entry text collate "C" not null,
  secrets_sealed text collate "C",
  drifted_at bigint,
  primary key (organization_id, section, name)
);
create index managed_subject on managed (organization_id, subject_id);

create table managed_check (
  organization_id text collate "C" not null primary key,
  sequence bigint not null
);
create index call_address on call (organization_id, address, id);
create index call_failed on call (organization_id, id) where status >= 500;
with recursive succession (id, ends, is_revoked) as (
  select id, expires_at, revoked_at is not null
  from access_token
  where created_by is null or created_by not in (select id from access_token)
  union all
  select token.id, least(token.expires_at, succession.ends),
    token.revoked_at is not null or succession.is_revoked
  from access_token token join succession on token.created_by = succession.id
)
update access_token set
  expires_at = succession.ends,
  revoked_at = case when succession.is_revoked
    then coalesce(access_token.revoked_at, (extract(epoch from now()) * 1000)::bigint) end
from succession
where succession.id = access_token.id;
create index access_token_issuer on access_token (organization_id, created_by);

update access_token set revoked_at = (extract(epoch from now()) * 1000)::bigint
where revoked_at is null and organization_id is not null and creator_user_id is not null
  and not exists (
    select 1 from membership
    where membership.organization_id = access_token.organization_id
      and membership.user_id = access_token.creator_user_id
  );

create table migration (name text primary key, digest text not null);
insert into migration values ('0001-core.sql', '2da73ceb45143967a2eae3c09faf5d196a97faa0bfd1420dd8690b1a9523d3f8');
insert into migration values ('0002-people.sql', '0aa0a742efd3338f448f7a64e40c6dc3b003309e97548b88767a7a7f1990faf5');
insert into migration values ('0003-webhooks.sql', 'b82307bf77a4ce5ef0c59debb0cbbb3f484c388804e4c8125e2eded8bb4eb693');
insert into migration values ('0004-directory.sql', 'bbbee72c48a17460dcd845f4c68126f17b17385b4a29a5eceea73dd5ee30dc15');
insert into migration values ('0005-connections.sql', '23d6dd1a2ee4abae627b03e0f5561f73e2a6ef649c69839676431a6b3273df62');
insert into migration values ('0006-connection-owner.sql', '9f44d6830c4a2e9423c4b224bcfb6fa174e21372ef2a22c70dd0be8514dd01d2');
insert into migration values ('0006-traffic.sql', 'f2372412382ea7a02e5ded5c8bf38195bc0e1f475090908a47005b15aeae158c');
insert into migration values ('0008-key-stragglers.sql', 'e01c42b99ecd5047bcbe01a6e92a3fa56c21745516e709ee36d0aa604e075ae7');
insert into migration values ('0009-external-id-unique.sql', '8ab0a87651257cb757313d18c3baa327564725f765237c60852897ebe244546c');
insert into migration values ('0009-feed-history.sql', 'ac311cce18a031a5bb75ef88ce9d17331089e0e474754197c2bfc3011dacedf2');
insert into migration values ('0010-account-links.sql', 'adfc7a1a28772ab4ea5244f66b7ef7155f7641fa3f169149b729a2813f1a5ce8');
insert into migration values ('0010-directory-request-view.sql', '777957ce5f368afe71b8a40a3992139b406d982b67a570a6b8f2a3964d9873d5');
insert into migration values ('0010-quota-claims.sql', '6fd9cfcb8ed464d3f597f283f7c6f7552ae1acd6c03fe46ada41a4a056e2057f');
insert into migration values ('0011-audit-seal.sql', '48bdfbe0fe425ae328e81af506c94ddfd69a2b0848f66e5f54b96bf588374936');
insert into migration values ('0011-otherwise.sql', '5342163b9282e3203eb6b88665cd96bad2d20819968bc74bf1944a9383aaf7f2');
insert into migration values ('0011-provider-logout.sql', 'da678d8ce0753000c09b1c04d953e96d5f311dacbdaf755f3507347c4307382a');
insert into migration values ('0011-rate-shares.sql', '1569ca5c2c700b83c9417e3a8b8013c5fad08ecf218a4707ff7fcbe2ca4e48e5');
insert into migration values ('0012-access-token.sql', '3d339ef781bda1397324daa2b006862907a502850ee885373c571ef28725d882');
insert into migration values ('0012-call-partitions.sql', '73feecab6c0860c4a02e7da888874e7328751b922f5636a358cdf0d397ca318a');
insert into migration values ('0013-audit-export.sql', '780f63d095a58b13284dbde226e1bb1bbb0c879052a25c9b371031f86043b466');
insert into migration values ('0014-audit-head-announced.sql', 'f1e4d31f769dbaf238146e563e5a3da1f175e50e7ba401c27b2588340acf9904');
insert into migration values ('0015-identity-client.sql', '73262b2dd30851a144a04567797c301f073ccd3cbfbe3f806b43c98cc1360ba3');
insert into migration values ('0016-managed.sql', 'ab4d126c441d3648ae9ed86e80679965b1aa9888b43e93b8dab6b045648d6652');
insert into migration values ('0017-call-search.sql', 'a92b91113a8f85e99c346bf41fa4ec97829c826ec30495743277b8fcec358ede');
insert into migration values ('0017-token-succession.sql', '221eadd411e4bdce418b5ac10f789c043df64a9528bf1796225e0e6c1d6ce9fc');
