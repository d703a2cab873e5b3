create table call (
  id text primary key,
  at integer not null,
  organization_id text not null,
  key_id text not null,
  target_id text,
  method text not null,
  path text not null,
  status integer not null,
  refusal text,
  stopped_at text,
  rule_id text,
  bytes_in integer not null,
  bytes_out integer not null,
  duration_us integer not null,
  upstream_us integer,
  address text not null,
  agent text,
  capture text
) strict;
create index call_at on call (at);
create index call_organization on call (organization_id, at, id);
create index call_key on call (organization_id, key_id, at, id);

create table call_minute (
  organization_id text not null,
  minute integer not null,
  target_id text not null,
  stopped_at text not null,
  calls integer not null,
  errors integer not null,
  bytes_in integer not null,
  bytes_out integer not null,
  duration_us integer not null,
  primary key (organization_id, minute, target_id, stopped_at)
) strict;
create index call_minute_minute on call_minute (minute);
drop table call;
create table call (
  organization_id text not null,
  id text not null,
  at integer not null,
  key_id text not null,
  target_id text,
  method text not null,
  path text not null,
  status integer not null,
  refusal text,
  stopped_at text,
  rule_id text,
  trial_rule_id text,
  bytes_in integer not null,
  bytes_out integer not null,
  duration_us integer not null,
  upstream_us integer,
  address text not null,
  agent text,
  capture text,
  primary key (organization_id, id)
) strict, without rowid;
create index call_key on call (organization_id, key_id, id);

create table quota_use (
  organization_id text not null,
  subject_id text not null,
  period_at integer not null,
  calls integer not null,
  primary key (organization_id, subject_id, period_at)
) strict;

create table rule_day (
  organization_id text not null,
  rule_id text not null,
  day_at integer not null,
  decided integer not null,
  would_refuse integer not null,
  primary key (organization_id, rule_id, day_at)
) strict;
create table directory_walk (
  token_id text not null,
  query_digest text not null,
  next_index integer not null,
  next_place text not null,
  previous_index integer,
  previous_place text,
  at integer not null,
  primary key (token_id, query_digest)
) strict, without rowid;
alter table quota_use add column claimed integer not null default 0;
alter table quota_use add column granted integer not null default 0;
update quota_use set claimed = calls;
create table rate_share (
  subject_id text not null,
  node_id text not null,
  organization_id text not null,
  share integer not null,
  whole_at integer not null,
  demand real not null,
  short integer not null check (short in (0, 1)),
  changed_at integer not null,
  primary key (subject_id, node_id)
) strict, without rowid;
create index rate_share_changed on rate_share (changed_at);

create table rate_node (
  node_id text not null primary key,
  until integer not null
) strict, without rowid;
create index call_failed on call (organization_id, id) where status >= 500;

create table migration (name text primary key, digest text not null) strict;
insert into migration values ('0001-calls.sql', '2f31ce6ac2fe0543529849edbc85239ce092e65f78486938d2e9a3129ddbb4a8');
insert into migration values ('0002-traffic.sql', '8f2ba807bd84431f0858989eb2876ef917e51f3be4ad38cce8bb0af25ed98a80');
insert into migration values ('0003-directory-walk.sql', '643fd40d41e1500b0be62465ea11626e469f9742453df06624f70cf84aaa40b6');
insert into migration values ('0004-quota-claims.sql', '946ed1d738438fca43f561dae15ee64434b91b12554572d9085b34953dcda6ec');
insert into migration values ('0005-rate-shares.sql', 'ff205dad0f8d1b47765407145fbfde61fb0814d51f048f92ba41292c5c5a3eb6');
insert into migration values ('0006-call-search.sql', '619e57c0c21b1c035b25934adb8153f4029b51649b67be9282d6cacb229347e3');
