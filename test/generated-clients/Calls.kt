import org.openapitools.client.apis.DeliveriesApi
import org.openapitools.client.apis.IdentityApi
import org.openapitools.client.apis.SubscriptionsApi
import org.openapitools.client.infrastructure.ApiClient
import org.openapitools.client.infrastructure.ClientException
import org.openapitools.client.models.EventTypeName
import org.openapitools.client.models.Proof
import org.openapitools.client.models.SubscriptionRequest

/** Calls all six operations with a client that openapi-generator generated. Prints one line for each. */
fun main(args: Array<String>) {
    val base = args[0]
    ApiClient.accessToken = System.getenv("TOKEN")
    val subscriptions = SubscriptionsApi(base)
    val deliveries = DeliveriesApi(base)

    println("getIdentity ${IdentityApi(base).getIdentity().partnerOrg}")

    val url = "https://hooks.example.com/in"
    val wanted = SubscriptionRequest(url, setOf(EventTypeName.vcPeriodTestPeriodPing))
    val made = subscriptions.createSubscription(wanted)
    println("createSubscription ${made.secret.take(6)}")

    println("listSubscriptions ${subscriptions.listSubscriptions().size == 1}")

    println("sendTestEvent ${deliveries.sendTestEvent(made.id, Proof(made.secret)).enqueued}")

    val failures = deliveries.listFailures(made.id)
    println("listFailures ${failures.items} ${failures.nextCursor == null}")

    subscriptions.deleteSubscription(made.id)
    println("deleteSubscription")
    try {
        subscriptions.deleteSubscription(made.id)
    } catch (gone: ClientException) {
        println("a problem ${gone.statusCode}")
    }
}
