-- Only these answers are erased with a subscription. An organization may keep hundreds of thousands of others.
drop index kept_answers_of_subscription;

create index kept_answers_with_secrets on kept_answers (organization_id, subscription_id)
 where route = 'createSubscription' and sealed_answer is not null;
