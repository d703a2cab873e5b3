-- Call records by organization and time-ordered id: the order of every list, so that one more index is enough.
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

-- Calls counted towards a quota of a key or target; the period is its first moment.
create table quota_use (
  organization_id text not null,
  subject_id text not null,
  period_at integer not null,
  calls integer not null,
  primary key (organization_id, subject_id, period_at)
) strict;

-- How often a rule decided, and how often a rule on trial would have refused; per day.
create table rule_day (
  organization_id text not null,
  rule_id text not null,
  day_at integer not null,
  decided integer not null,
  would_refuse integer not null,
  primary key (organization_id, rule_id, day_at)
) strict;
