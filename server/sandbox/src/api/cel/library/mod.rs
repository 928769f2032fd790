//! The functions that Kubernetes adds to CEL, as overloads for the `cel` crate. Which types they take is in `data/cel.txt`.
mod lists;
mod network;
mod quantity;
mod text;

use std::any::Any;
use std::fmt::Debug;
use std::sync::{Arc, LazyLock};

use cel::common::types::Type;
use cel::common::value::{CowVal, StaticVal, Val};
use cel::{DeclarationError, Env, ExecutionError, extensions};

/// The environment in which all rules are parsed and evaluated.
pub fn environment() -> Arc<Env> {
    static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| {
        let mut env = Env::stdlib();
        if let Err(error) = extend(&mut env) {
            tracing::error!(?error, "a function of Kubernetes could not be added to CEL");
        }
        Arc::new(env)
    });
    ENVIRONMENT.clone()
}

fn extend(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_extension(extensions::strings)?;
    env.add_extension(extensions::lists)?;
    text::add(env)?;
    lists::add(env)?;
    quantity::add(env)?;
    network::add(env)
}

/// An error that a function raises, in the words of the real library.
fn failed(function: &str, why: impl ToString) -> ExecutionError {
    ExecutionError::function_error(function, why)
}

/// A value of a type of Kubernetes' own: what it is called and what equality means.
trait Own: Debug + Clone + PartialEq + Send + Sync + 'static {
    /// The name of the type.
    const TYPE: &'static Type;
}

/// A value of Kubernetes' own types as CEL handles it.
#[derive(Debug, Clone)]
struct Boxed<T>(T);

impl<T: Own> Val for Boxed<T> {
    fn get_type(&self) -> &Type {
        T::TYPE
    }

    fn cel_type() -> &'static Type {
        T::TYPE
    }

    fn equals(&self, other: &dyn Val) -> bool {
        other.downcast_ref::<Self>().is_some_and(|other| self.0 == other.0)
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl<T: Own> StaticVal for Boxed<T> {}

/// The result of a function.
type Outcome<'b, 'v> = Result<CowVal<'b, 'v>, ExecutionError>;

#[cfg(test)]
mod tests {
    use super::*;
    use cel::{Context, Value};

    /// What an expression comes to; errors as text.
    pub fn value(source: &str) -> Result<Value, String> {
        let env = environment();
        let program = env.compile(source).map_err(|e| e.to_string())?;
        program.execute(&Context::with_env(env)).map_err(|e| e.to_string())
    }

    #[test]
    fn what_kubernetes_adds_answers_as_its_documentation_says() {
        for truth in [
            "'abc 123'.find('[0-9]+') == '123' && 'abc'.find('[0-9]+') == ''",
            "'123 abc 456'.findAll('[0-9]+') == ['123', '456']",
            "'1 2 3'.findAll('[0-9]', 2) == ['1', '2'] && '1'.findAll('x') == []",
            "[1, 2, 2].isSorted() && !['b', 'a'].isSorted() && ([] == [] && [1].isSorted())",
            "[1, 3].sum() == 4 && [1.0, 3.0].sum() == 4.0 && [duration('1m'), duration('1s')].sum() == duration('1m1s')",
            "[3, 1].min() == 1 && ['a', 'b'].max() == 'b'",
            "[1, 2, 2].indexOf(2) == 1 && [1, 2, 2].lastIndexOf(2) == 2 && [1].indexOf(5) == -1",
            "sets.contains([1, 2, 3], [3, 1]) && !sets.contains([1], [2]) && sets.equivalent([1, 2, 1], [2, 1]) && sets.intersects([1], [1, 2])",
            "quantity('1Gi') == quantity('1024Mi') && quantity('50k').isGreaterThan(quantity('1')) && quantity('1').isLessThan(quantity('2'))",
            "isQuantity('1.3Gi') && !isQuantity('1,3G') && sign(quantity('-1')) == -1 && sign(quantity('0')) == 0",
            "quantity('50M').asInteger() == 50000000 && quantity('1').isInteger() && !quantity('500m').isInteger()",
            "quantity('50k').asApproximateFloat() == 50000.0 && quantity('5').compareTo(quantity('6')) == -1",
            "quantity('50k').add(quantity('20')) == quantity('50020') && quantity('50k').sub(20) == quantity('49980') && quantity('1').add(1) == quantity('2')",
            "isURL('https://example.com:80/') && isURL('/path') && !isURL('../relative') && !isURL('https://a:b:c/')",
            "url('https://u@example.com:8080/a%20b?k=1&k=2').getHost() == 'example.com:8080'",
            "url('https://[::1]:80/p').getHostname() == '::1' && url('https://[::1]:80/p').getPort() == '80'",
            "url('https://e.com/a%20b?k=1&k=2').getEscapedPath() == '/a%20b' && url('https://e.com/?k=1&k=a%20b').getQuery()['k'] == ['1', 'a b']",
            "url('/p').getScheme() == '' && url('https://e.com').getScheme() == 'https'",
            "isIP('1.2.3.4') && isIP('::1') && !isIP('1.2.3') && !isIP('::ffff:1.2.3.4') && !isIP('fe80::1%eth0')",
            "ip('::1').family() == 6 && ip('127.0.0.1').isLoopback() && ip('0.0.0.0').isUnspecified() && string(ip('::1')) == '::1'",
            "ip('224.0.0.1').isLinkLocalMulticast() && ip('169.254.1.1').isLinkLocalUnicast() && ip('8.8.8.8').isGlobalUnicast()",
            "ip.isCanonical('127.0.0.1') && !ip.isCanonical('2001:DB8::1') && ip('2001:DB8::1') == ip('2001:db8::1')",
            "isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0') && !isCIDR('10.0.0.0/33')",
            "cidr('10.0.0.0/8').containsIP('10.1.1.1') && cidr('10.0.0.0/8').containsIP(ip('10.1.1.1')) && !cidr('10.0.0.0/8').containsIP('::1')",
            "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))",
            "cidr('10.1.2.3/8').ip() == ip('10.1.2.3') && cidr('10.1.2.3/8').prefixLength() == 8 && string(cidr('10.1.2.3/8').masked()) == '10.0.0.0/8'",
            "'a,b'.split(',').join('-') == 'a-b' && ' A '.trim().lowerAscii() == 'a' && '%d of %s'.format([1, 'x']) == '1 of x'",
            "type(1) == int && type('a') == string && type(quantity('1')) != int",
            "optional.of(1).hasValue() && optional.none().orValue(2) == 2 && {'a': 1}.?b.orValue(3) == 3 && [1][?4].orValue(0) == 0",
        ] {
            assert_eq!(value(truth), Ok(Value::Bool(true)), "{truth}");
        }
    }

    #[test]
    fn wrong_texts_are_errors_with_the_words_of_kubernetes() {
        for (source, words) in [
            ("quantity('x')", "quantities must match the regular expression"),
            ("quantity('1Ei').add(quantity('16E')).asInteger()", "cannot convert value to integer"),
            ("ip('1.2')", "IP Address \"1.2\" parse error"),
            ("cidr('1')", "netip.ParsePrefix(\"1\"): no '/'"),
            ("url('a b')", "URL parse error"),
            ("'a'.find('(')", "Illegal regex"),
            ("[1][1:2]", "ERROR"),
            ("[0].filter(i, i > 0).min()", "min called on empty list"),
        ] {
            let error = value(source).expect_err(source);
            assert!(error.contains(words), "{source}: {error}");
        }
    }
}
