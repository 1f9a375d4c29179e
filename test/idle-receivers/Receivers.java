import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PfxOptions;
import java.io.FileInputStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.security.KeyStore;
import java.time.Duration;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.apache.tomcat.util.net.SSLHostConfigCertificate;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.glassfish.grizzly.http.server.HttpHandler;
import org.glassfish.grizzly.http.server.NetworkListener;
import org.glassfish.grizzly.ssl.SSLEngineConfigurator;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServer;

/** Servers of Java, each on the port of its variable. P12 (its password is "idle"), and IDLE or none. */
class Receivers {
  static final String HOST = "127.0.0.2", P12 = System.getenv("P12"), PASSWORD = "idle";
  static final Integer IDLE = System.getenv("IDLE") == null ? null : Integer.valueOf(System.getenv("IDLE"));

  static int port(String name) {
    return Integer.parseInt(System.getenv(name));
  }

  public static void main(String[] args) throws Exception {
    var keys = KeyStore.getInstance("PKCS12");
    keys.load(new FileInputStream(P12), PASSWORD.toCharArray());
    var managers = KeyManagerFactory.getInstance("SunX509");
    managers.init(keys, PASSWORD.toCharArray());
    var tls = SSLContext.getInstance("TLS");
    tls.init(managers.getKeyManagers(), null, null);
    jdk(tls);
    jetty();
    tomcat();
    undertow(tls);
    grizzly(tls);
    reactorNetty(managers);
    vertx();
  }

  /** Its idle time is a system property of the command: sun.net.httpserver.idleInterval. */
  static void jdk(SSLContext tls) throws Exception {
    var server = HttpsServer.create(new InetSocketAddress(HOST, port("JDK")), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(tls));
    server.createContext("/", exchange -> {
      exchange.getRequestBody().readAllBytes();
      exchange.sendResponseHeaders(200, 2);
      exchange.getResponseBody().write("ok".getBytes());
      exchange.close();
    });
    server.start();
  }

  static void jetty() throws Exception {
    var server = new Server();
    var tls = new SslContextFactory.Server();
    tls.setKeyStorePath(P12);
    tls.setKeyStorePassword(PASSWORD);
    var connector = new ServerConnector(server, tls);
    connector.setHost(HOST);
    connector.setPort(port("JETTY"));
    if (IDLE != null) connector.setIdleTimeout(IDLE * 1000);
    server.addConnector(connector);
    server.setHandler(new Handler.Abstract() {
      @Override
      public boolean handle(Request request, Response response, Callback callback) throws Exception {
        Content.Source.consumeAll(request);
        Content.Sink.write(response, true, "ok", callback);
        return true;
      }
    });
    server.start();
  }

  static void tomcat() throws Exception {
    var server = new Tomcat();
    var folder = Files.createTempDirectory("tomcat").toString();
    server.setBaseDir(folder);
    server.setHostname("localhost");
    server.setPort(port("TOMCAT"));
    var connector = server.getConnector();
    connector.setProperty("address", HOST);
    connector.setScheme("https");
    connector.setSecure(true);
    connector.setProperty("SSLEnabled", "true");
    if (IDLE != null) connector.setProperty("keepAliveTimeout", String.valueOf(IDLE * 1000));
    var tls = new SSLHostConfig();
    var certificate = new SSLHostConfigCertificate(tls, SSLHostConfigCertificate.Type.EC);
    certificate.setCertificateKeystoreFile(P12);
    certificate.setCertificateKeystorePassword(PASSWORD);
    certificate.setCertificateKeystoreType("PKCS12");
    tls.addCertificate(certificate);
    connector.addSslHostConfig(tls);
    var context = server.addContext("", folder);
    Tomcat.addServlet(context, "hook", new HttpServlet() {
      @Override
      protected void doPost(HttpServletRequest request, HttpServletResponse response) throws java.io.IOException {
        request.getInputStream().readAllBytes();
        response.getOutputStream().write("ok".getBytes());
      }
    });
    context.addServletMappingDecoded("/", "hook");
    server.start();
  }

  static void undertow(SSLContext tls) {
    var server = Undertow.builder().addHttpsListener(port("UNDERTOW"), HOST, tls);
    if (IDLE != null) server.setServerOption(UndertowOptions.NO_REQUEST_TIMEOUT, IDLE * 1000);
    server.setHandler(exchange -> exchange.getRequestReceiver()
        .receiveFullBytes((whole, bytes) -> whole.getResponseSender().send("ok"))).build().start();
  }

  static void grizzly(SSLContext tls) throws Exception {
    var listener = new NetworkListener("hooks", HOST, port("GRIZZLY"));
    listener.setSecure(true);
    listener.setSSLEngineConfig(new SSLEngineConfigurator(tls, false, false, false));
    if (IDLE != null) listener.getKeepAlive().setIdleTimeoutInSeconds(IDLE);
    var server = new org.glassfish.grizzly.http.server.HttpServer();
    server.addListener(listener);
    server.getServerConfiguration().addHttpHandler(new HttpHandler() {
      @Override
      public void service(
          org.glassfish.grizzly.http.server.Request request, org.glassfish.grizzly.http.server.Response response)
          throws Exception {
        request.getInputStream().readAllBytes();
        response.getWriter().write("ok");
      }
    });
    server.start();
  }

  static void reactorNetty(KeyManagerFactory managers) throws Exception {
    var tls = io.netty.handler.ssl.SslContextBuilder.forServer(managers).build();
    var server = HttpServer.create().host(HOST).port(port("REACTOR_NETTY")).secure(spec -> spec.sslContext(tls));
    if (IDLE != null) server = server.idleTimeout(Duration.ofSeconds(IDLE));
    server.handle((request, response) -> request.receive().then().then(Mono.defer(
        () -> response.header("content-length", "2").sendString(Mono.just("ok")).then()))).bindNow();
  }

  static void vertx() {
    var options = new HttpServerOptions().setHost(HOST).setPort(port("VERTX")).setSsl(true)
        .setKeyCertOptions(new PfxOptions().setPath(P12).setPassword(PASSWORD));
    if (IDLE != null) options.setIdleTimeout(IDLE);
    Vertx.vertx().createHttpServer(options)
        .requestHandler(request -> request.body().onSuccess(body -> request.response().end("ok"))).listen();
  }
}
