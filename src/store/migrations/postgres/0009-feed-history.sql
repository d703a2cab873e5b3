-- Random for each change: after a failover or a restore the same sequence has another token, and nodes notice.
alter table change add column token text collate "C" not null default '';

-- How far a node has read, in which history; `beats` grows with every heartbeat, whatever clocks say.
alter table node add column seen_token text collate "C" not null default '';
alter table node add column beats bigint not null default 0;

-- The server that holds this database, and since when nodes have met it here.
create table database_server (
  only_row bigint primary key check (only_row = 1),
  identity text collate "C" not null,
  since bigint not null
);
