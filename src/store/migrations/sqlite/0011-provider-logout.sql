-- The id_token of a session whose end shall end the provider's own session: its hint, sealed.
alter table provider_session add column id_token_sealed text;
