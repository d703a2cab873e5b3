-- The client under which a provider with pairwise subjects knew an identity, since the connection has another client.
alter table identity add column former_client_id text collate "C";
