// Calls all six operations with a client that openapi-generator generated. Prints one line for each.
use openapi::apis::configuration::Configuration;
use openapi::apis::{deliveries_api, identity_api, subscriptions_api};
use openapi::models::{EventTypeName, Proof, SubscriptionRequest};
use std::{env, error::Error};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = Configuration {
        base_path: env::args().nth(1).ok_or("which service?")?,
        bearer_access_token: Some(env::var("TOKEN")?),
        ..Configuration::new()
    };

    let me = identity_api::get_identity(&client).await?;
    println!("getIdentity {}", me.partner_org);

    let url = "https://hooks.example.com/in".to_owned();
    let wanted = SubscriptionRequest::new(url, vec![EventTypeName::VcTestPing]);
    let made = subscriptions_api::create_subscription(&client, wanted, None).await?;
    println!("createSubscription {}", &made.secret[..6]);

    let listed = subscriptions_api::list_subscriptions(&client).await?;
    println!("listSubscriptions {}", listed.len() == 1);

    let proof = Proof::new(made.secret);
    let sent = deliveries_api::send_test_event(&client, &made.id, proof, None).await?;
    println!("sendTestEvent {}", sent.enqueued);

    let failures = deliveries_api::list_failures(&client, &made.id, None, None).await?;
    println!("listFailures {:?} {}", failures.items, failures.next_cursor.is_none());

    subscriptions_api::delete_subscription(&client, &made.id).await?;
    println!("deleteSubscription");

    let gone = subscriptions_api::delete_subscription(&client, &made.id).await;
    println!("a problem {}", gone.err().ok_or("deleted twice")?);
    Ok(())
}
