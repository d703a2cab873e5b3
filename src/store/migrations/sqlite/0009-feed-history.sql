-- Random for each change: after a restore the same sequence has another token, and nodes notice.
alter table change add column token text not null default '';

-- How far a node has read, in which history; `beats` grows with every heartbeat, whatever clocks say.
alter table node add column seen_token text not null default '';
alter table node add column beats integer not null default 0;

-- The server that holds this database; SQLite has none, and the table stays empty.
create table database_server (
  only_row integer primary key check (only_row = 1),
  identity text not null,
  since integer not null
) strict;
